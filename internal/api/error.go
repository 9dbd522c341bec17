package api

// The errors of this API only: those that others have, too, are in package web.

import (
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/web"
)

func pathNotFound() *web.Error {
	return web.NewError(web.CodeNotFound, "Ce chemin n’existe pas : la description de l’API, /api/v1/openapi.json, "+
		"donne tous les chemins (sans barre oblique finale).")
}

func comparisonNotFound(slug string) *web.Error {
	return web.NewError(web.CodeComparisonNotFound,
		"Aucun comparatif n’a l’identifiant "+web.Quote(slug)+" : la liste est à /api/v1/comparatifs.")
}

func notInEmbeddingsSet(slug string) *web.Error {
	return web.NewError(web.CodeNotInEmbeddingsSet,
		"L’outil "+web.Quote(slug)+" n’est pas dans la sélection des "+strconv.Itoa(catalog.TopSetSize)+
			" outils qui ont des extraits : sa fiche est à /api/v1/tools/"+slug+".")
}
