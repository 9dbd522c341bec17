package site

// A docsError explains one code of error: what it means and what helps.
type docsError struct {
	ID     string
	Code   string
	Status int
	Means  string
	Do     string
}

func errorAnchor(code string) docsAnchor { return docsAnchor{"erreur-" + code, code} }

// docsErrors are all codes of the API, in the order of their status.
var docsErrors = []docsError{
	newDocsError(400, "invalid_parameter", "Un paramètre est mal écrit, hors bornes, vide ou répété ; ou une clé se trouve dans l’adresse.", "Lisez « param » et la phrase, qui donne les valeurs admises. Ne renvoyez pas la requête telle quelle."),
	newDocsError(401, "missing_api_key", "L’opération demande une clé et la requête n’en porte pas.", "Envoyez l’en-tête « Authorization: Bearer … »."),
	newDocsError(401, "invalid_api_key", "La clé est mal formée, mal recopiée ou inconnue.", "Vérifiez la variable qui la contient : ni guillemets ni espaces, un seul en-tête."),
	newDocsError(401, "revoked_api_key", "La clé a été révoquée par son titulaire.", "Remplacez-la par une autre clé du compte."),
	newDocsError(401, "expired_api_key", "La clé a été remplacée et son délai de recouvrement de 24 heures est passé.", "Utilisez la clé qui la remplace."),
	newDocsError(403, "plan_required", "L’offre du compte ne comprend pas ce qui est demandé.", "Changez d’offre ; la page des tarifs dit ce que chacune comprend."),
	newDocsError(403, "key_suspended", "La clé est authentique mais suspendue : le compte a plus de clés que son offre n’en comprend.", "Révoquez une autre clé du compte, ou revenez à l’offre Pro ; aucune nouvelle tentative n’aboutira d’ici là."),
	newDocsError(404, "tool_not_found", "Aucun outil actif ne porte ce slug.", "S’il est retiré, la phrase dit depuis quand : voyez le cimetière. Sinon, partez de la liste."),
	newDocsError(404, "comparatif_not_found", "Aucun comparatif publié ne porte ce slug.", "Partez de la liste des comparatifs."),
	newDocsError(404, "not_in_embeddings_set", "L’outil existe, mais ses segments ne sont pas servis : il n’est pas parmi les 300 couverts.", "Passez à l’outil suivant ; sa fiche reste lisible."),
	newDocsError(404, "not_found", "L’adresse n’existe pas, ou finit par une barre oblique.", "Comparez-la aux opérations de cette page."),
	newDocsError(405, "method_not_allowed", "La méthode n’est ni GET, ni HEAD, ni OPTIONS.", "L’API se lit seulement ; l’en-tête « Allow » rappelle ce qui est admis."),
	newDocsError(429, "quota_exceeded", "Le quota du jour est épuisé.", "Attendez « Retry-After » secondes, ou prenez une clé ; gardez ce que vous avez déjà reçu."),
	newDocsError(500, "internal", "Une panne de notre côté, consignée.", "Réessayez plus tard, de plus en plus rarement. Rien n’est décompté."),
	newDocsError(503, "unavailable", "La clé ne peut pas être vérifiée pour l’instant.", "Réessayez dans quelques secondes. Rien n’est décompté."),
}

func newDocsError(status int, code, means, do string) docsError {
	return docsError{errorAnchor(code).ID, code, status, nobreak(means), nobreak(do)}
}
