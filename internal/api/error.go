package api

// The errors of this API only: those of keys and quotas are in package web.

import (
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/web"
)

func missingKey() *web.Error {
	return web.NewError(web.CodeMissingKey, "Cette opération demande une clé d’API (gratuite) : envoyez l’en-tête « Authorization: Bearer plm_… ».")
}

func pathNotFound() *web.Error {
	return web.NewError(web.CodeNotFound, "Ce chemin n’existe pas : la description de l’API, /api/v1/openapi.json, donne tous les chemins (sans barre oblique finale).")
}

func toolNotFound(slug string) *web.Error {
	return web.NewError(web.CodeToolNotFound, "Aucun outil n’a l’identifiant "+web.Quote(slug)+" : la liste est à /api/v1/tools.")
}

func toolRetired(r *catalog.Retired) *web.Error {
	text := "L’outil « " + r.Name + " » est retiré du catalogue depuis le " + r.RetiredAt +
		" (" + string(r.Reason) + ") : voir /api/v1/cimetiere"
	if r.Successor != "" {
		text += " et son successeur, /api/v1/tools/" + r.Successor
	}
	return web.NewError(web.CodeToolNotFound, text+".")
}

func comparisonNotFound(slug string) *web.Error {
	return web.NewError(web.CodeComparisonNotFound, "Aucun comparatif n’a l’identifiant "+web.Quote(slug)+" : la liste est à /api/v1/comparatifs.")
}

func notInEmbeddingsSet(slug string) *web.Error {
	return web.NewError(web.CodeNotInEmbeddingsSet, "L’outil "+web.Quote(slug)+" n’est pas dans la sélection des "+strconv.Itoa(catalog.TopSetSize)+
		" outils qui ont des extraits : sa fiche est à /api/v1/tools/"+slug+".")
}
