package reference

import "palmares/internal/markdown"

// An errorCode explains one error code of the API and how to fix what causes it.
type errorCode struct {
	ID      string
	Code    string
	Status  int
	Meaning string
	Fix     string
}

func errorAnchor(code string) anchor { return anchor{"erreur-" + code, code} }

// errorCodes are all error codes of the API, in the order of their status.
var errorCodes = []errorCode{
	newErrorCode(400, "invalid_parameter", "Un paramètre est mal écrit, hors bornes, vide ou répété ; ou une clé se trouve dans l’adresse.", "Lisez « param » et la phrase, qui donne les valeurs admises. Ne renvoyez pas la requête telle quelle."),
	newErrorCode(401, "missing_api_key", "L’opération demande une clé et la requête n’en porte pas.", "Envoyez l’en-tête « Authorization: Bearer … »."),
	newErrorCode(401, "invalid_api_key", "La clé est mal formée, mal recopiée ou inconnue.", "Vérifiez la variable qui la contient : ni guillemets ni espaces, un seul en-tête."),
	newErrorCode(401, "revoked_api_key", "La clé a été révoquée par son titulaire.", "Remplacez-la par une autre clé du compte."),
	newErrorCode(401, "expired_api_key", "La clé a été remplacée et son délai de recouvrement de 24 heures est passé.", "Utilisez la clé qui la remplace."),
	newErrorCode(403, "plan_required", "L’offre du compte ne comprend pas ce qui est demandé.", "Changez d’offre ; la page des tarifs dit ce que chacune comprend."),
	newErrorCode(403, "key_suspended", "La clé est authentique mais suspendue : le compte a plus de clés que son offre n’en comprend.", "Révoquez une autre clé du compte, ou revenez à l’offre Pro ; aucune nouvelle tentative n’aboutira d’ici là."),
	newErrorCode(404, "tool_not_found", "Aucun outil actif ne porte ce slug.", "S’il est retiré, la phrase dit depuis quand : voyez le cimetière. Sinon, partez de la liste."),
	newErrorCode(404, "comparatif_not_found", "Aucun comparatif publié ne porte ce slug.", "Partez de la liste des comparatifs."),
	newErrorCode(404, "not_in_embeddings_set", "L’outil existe, mais ses segments ne sont pas servis : il n’est pas parmi les 300 couverts.", "Passez à l’outil suivant ; sa fiche reste lisible."),
	newErrorCode(404, "not_found", "L’adresse n’existe pas, ou finit par une barre oblique.", "Comparez-la aux opérations de cette page."),
	newErrorCode(405, "method_not_allowed", "La méthode n’est ni GET, ni HEAD, ni OPTIONS.", "L’API se lit seulement ; l’en-tête « Allow » rappelle ce qui est admis."),
	newErrorCode(429, "quota_exceeded", "Le quota du jour est épuisé.", "Attendez « Retry-After » secondes, ou prenez une clé ; gardez ce que vous avez déjà reçu."),
	newErrorCode(500, "internal", "Une panne de notre côté, consignée.", "Réessayez plus tard, de plus en plus rarement. Rien n’est décompté."),
	newErrorCode(503, "unavailable", "La clé ne peut pas être vérifiée pour l’instant.", "Réessayez dans quelques secondes. Rien n’est décompté."),
}

func newErrorCode(status int, code, meaning, fix string) errorCode {
	return errorCode{errorAnchor(code).ID, code, status, markdown.NoBreak(meaning), markdown.NoBreak(fix)}
}
