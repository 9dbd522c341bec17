package web

import (
	"net/http"

	"palmares/internal/problem"
)

// A Code names a kind of error for programs. Codes are part of the contract: they never
// change their meaning.
type Code string

// The codes of all JSON APIs.
const (
	CodeInvalidParameter     Code = "invalid_parameter"
	CodeMissingKey           Code = "missing_api_key"
	CodeInvalidKey           Code = "invalid_api_key"
	CodeRevokedKey           Code = "revoked_api_key"
	CodeExpiredKey           Code = "expired_api_key"
	CodeMissingToken         Code = "missing_token"
	CodeInvalidToken         Code = "invalid_token"
	CodeRevokedToken         Code = "revoked_token"
	CodeExpiredToken         Code = "expired_token"
	CodePlanRequired         Code = "plan_required"
	CodeSuspendedKey         Code = "key_suspended"
	CodeToolNotFound         Code = "tool_not_found"
	CodeComparisonNotFound   Code = "comparatif_not_found"
	CodeNotInEmbeddingsSet   Code = "not_in_embeddings_set"
	CodeNotFound             Code = "not_found"
	CodeMethodNotAllowed     Code = "method_not_allowed"
	CodeNotAcceptable        Code = "not_acceptable"
	CodeEndpointLimit        Code = "endpoint_limit"
	CodeEndpointInactive     Code = "endpoint_inactive"
	CodeRecoveryRunning      Code = "recovery_running"
	CodeKeyReused            Code = "idempotency_key_reused"
	CodeInvalidUpload        Code = "invalid_upload"
	CodeConflict             Code = "conflict"
	CodeForeignCursor        Code = "foreign_cursor"
	CodeVersionGone          Code = "version_gone"
	CodeInvalidRange         Code = "invalid_range"
	CodePayloadTooLarge      Code = "payload_too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeQuotaExceeded        Code = "quota_exceeded"
	CodeTooManyRequests      Code = "too_many_requests"
	CodeInternal             Code = "internal"
	CodeUnavailable          Code = "unavailable"
	CodeNoSpace              Code = "no_space"
)

// A CodeInfo is what all errors of one code have in common.
type CodeInfo struct {
	Code   Code
	Status int
	// Text is the sentence of the error, if it is always the same.
	Text problem.Text
	// Meaning and Fix explain the code to callers. They are empty for codes that neither
	// /api nor /data returns.
	Meaning, Fix string
	// Dataset says that only /data returns the code.
	Dataset bool
	// Publishing says that only /publish returns the code.
	Publishing bool
}

// Codes is the one table of codes, by status. It must not be changed.
var Codes = []CodeInfo{
	{
		Code: CodeInvalidParameter, Status: http.StatusBadRequest,
		Meaning: "Un paramètre est mal écrit, hors bornes, vide ou répété ; ou une clé se trouve dans l’adresse.",
		Fix:     "Lisez « param » et la phrase, qui donne les valeurs admises. Ne renvoyez pas la requête telle quelle.",
	},
	{Code: CodeInvalidUpload, Status: http.StatusBadRequest, Publishing: true},
	{
		Code: CodeMissingKey, Status: http.StatusUnauthorized,
		Meaning: "L’opération demande une clé et la requête n’en porte pas.",
		Fix:     "Envoyez l’en-tête « Authorization: Bearer … ».",
	},
	{
		Code: CodeInvalidKey, Status: http.StatusUnauthorized,
		Text:    problem.New("key-invalid"),
		Meaning: "La clé est mal formée, mal recopiée ou inconnue.",
		Fix:     "Vérifiez la variable qui la contient : ni guillemets ni espaces, un seul en-tête.",
	},
	{
		Code: CodeRevokedKey, Status: http.StatusUnauthorized,
		Text:    problem.New("key-revoked"),
		Meaning: "La clé a été révoquée par son titulaire.",
		Fix:     "Remplacez-la par une autre clé du compte.",
	},
	{
		Code: CodeExpiredKey, Status: http.StatusUnauthorized,
		Text:    problem.New("key-expired"),
		Meaning: "La clé a été remplacée et son délai de recouvrement de 24 heures est passé.",
		Fix:     "Utilisez la clé qui la remplace.",
	},
	{Code: CodeMissingToken, Status: http.StatusUnauthorized, Publishing: true},
	{Code: CodeInvalidToken, Status: http.StatusUnauthorized, Publishing: true},
	{Code: CodeRevokedToken, Status: http.StatusUnauthorized, Publishing: true},
	{Code: CodeExpiredToken, Status: http.StatusUnauthorized, Publishing: true},
	{
		Code: CodePlanRequired, Status: http.StatusForbidden,
		Meaning: "L’offre du compte ne comprend pas ce qui est demandé.",
		Fix:     "Changez d’offre ; la page des tarifs dit ce que chacune comprend.",
	},
	{
		Code: CodeSuspendedKey, Status: http.StatusForbidden,
		Text:    problem.New("key-suspended"),
		Meaning: "La clé est authentique mais suspendue : le compte a plus de clés que son offre n’en comprend.",
		Fix: "Révoquez une autre clé du compte, ou revenez à l’offre Pro ; aucune nouvelle tentative n’aboutira " +
			"d’ici là.",
	},
	{
		Code: CodeToolNotFound, Status: http.StatusNotFound,
		Meaning: "Aucun outil actif ne porte ce slug.",
		Fix:     "S’il est retiré, la phrase dit depuis quand : voyez le cimetière. Sinon, partez de la liste.",
	},
	{
		Code: CodeComparisonNotFound, Status: http.StatusNotFound,
		Meaning: "Aucun comparatif publié ne porte ce slug.",
		Fix:     "Partez de la liste des comparatifs.",
	},
	{
		Code: CodeNotInEmbeddingsSet, Status: http.StatusNotFound,
		Meaning: "L’outil existe, mais ses segments ne sont pas servis : il n’est pas parmi les 300 couverts.",
		Fix:     "Passez à l’outil suivant ; sa fiche reste lisible.",
	},
	{
		Code: CodeNotFound, Status: http.StatusNotFound,
		Meaning: "L’adresse n’existe pas, ou finit par une barre oblique.",
		Fix:     "Comparez-la aux opérations de cette page.",
	},
	{
		Code: CodeMethodNotAllowed, Status: http.StatusMethodNotAllowed,
		Meaning: "La méthode n’est ni GET, ni HEAD, ni OPTIONS.",
		Fix:     "L’API se lit seulement ; l’en-tête « Allow » rappelle ce qui est admis.",
	},
	{
		Code: CodeNotAcceptable, Status: http.StatusNotAcceptable, Dataset: true,
		Text:    problem.New("changes-not-streamed"),
		Meaning: "L’en-tête « Accept » n’admet qu’un flux d’événements, et les changements se lisent en JSON.",
		Fix:     "Demandez « application/json », de temps en temps, avec « If-None-Match », ou prenez un webhook.",
	},
	{Code: CodeEndpointLimit, Status: http.StatusConflict},
	{Code: CodeEndpointInactive, Status: http.StatusConflict},
	{Code: CodeRecoveryRunning, Status: http.StatusConflict},
	{Code: CodeKeyReused, Status: http.StatusConflict},
	{Code: CodeConflict, Status: http.StatusConflict, Publishing: true},
	{
		Code: CodeForeignCursor, Status: http.StatusConflict, Dataset: true,
		Meaning: "La position ou le flux demandés ne sont pas de cette base : elle a été remplacée ou restaurée depuis.",
		Fix:     "Repartez de zéro, sans « after » ni « feed », et remplacez votre copie par ce que vous recevez.",
	},
	{
		Code: CodeVersionGone, Status: http.StatusGone, Dataset: true,
		Meaning: "Ce fichier est d’une version de l’export qui n’est plus proposée : " +
			"seules les trois dernières le sont.",
		Fix: "Relisez /data/v1/export et prenez les adresses qu’il donne.",
	},
	{Code: CodePayloadTooLarge, Status: http.StatusRequestEntityTooLarge},
	{Code: CodeUnsupportedMediaType, Status: http.StatusUnsupportedMediaType},
	{
		Code: CodeInvalidRange, Status: http.StatusRequestedRangeNotSatisfiable, Dataset: true,
		Meaning: "L’en-tête « Range » demande des octets que le fichier n’a pas.",
		Fix:     "Le fichier est déjà entier, ou c’en est un autre : comparez sa taille et son SHA-256 au manifeste.",
	},
	{
		// The sentence depends on the caller: see quotaExceeded in error.go.
		Code: CodeQuotaExceeded, Status: http.StatusTooManyRequests,
		Meaning: "Le quota du jour est épuisé.",
		Fix:     "Attendez « Retry-After » secondes, ou prenez une clé ; gardez ce que vous avez déjà reçu.",
	},
	{Code: CodeTooManyRequests, Status: http.StatusTooManyRequests},
	{
		Code: CodeInternal, Status: http.StatusInternalServerError,
		Text:    problem.New("internal-error"),
		Meaning: "Une panne de notre côté, consignée.",
		Fix:     "Réessayez plus tard, de plus en plus rarement. Rien n’est décompté.",
	},
	{
		Code: CodeUnavailable, Status: http.StatusServiceUnavailable,
		Meaning: "La clé ne peut pas être vérifiée pour l’instant, un export se prépare, " +
			"ou trop de grandes pages sont en cours d’envoi.",
		Fix: "Réessayez après « Retry-After » secondes. Rien n’est décompté.",
	},
	{Code: CodeNoSpace, Status: http.StatusInsufficientStorage, Publishing: true},
}

// Info returns the row of the table for c. It panics for a code that is not in it.
func (c Code) Info() *CodeInfo {
	for i := range Codes {
		if Codes[i].Code == c {
			return &Codes[i]
		}
	}
	panic("web: no such code: " + string(c))
}
