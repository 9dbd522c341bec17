package accountsite

// notices are what a page may say was done, by the word in its address.
var notices = map[string]string{
	"connexion":        "La connexion est faite.",
	"deconnexion":      "Ce navigateur est déconnecté.",
	"session-terminee": "La session est terminée.",
	"autres-terminees": "Toutes les autres sessions sont terminées.",
	"session-inconnue": "Cette session était déjà terminée.",

	"suivre": "Un courriel part vers cette adresse\u00a0: suivez son lien dans les 24\u00a0heures. Jusque-là, rien ne vous sera " +
		"envoyé d’autre.",
	"suivi": "C’est noté\u00a0: nous vous écrirons.",

	"cle-renommee": "Le nom est changé.",
	"cle-revoquee": "La clé est révoquée\u00a0: elle est refusée partout en quelques secondes.",
	"cle-deja-creee": "Cette demande a déjà été faite, et rien n’a été créé de plus. Une clé ne " +
		"s’affiche qu’une fois\u00a0: si vous ne l’avez pas copiée, remplacez-la.",
	"cles-changees": "Vos clés ont changé depuis l’ouverture de cette page\u00a0: vérifiez, " +
		"puis recommencez. Rien n’a été créé.",
	"cle-deja-remplacee": "Cette clé est déjà remplacée ou révoquée\u00a0: " +
		"rien n’a été changé. Si vous n’avez pas copié la nouvelle, remplacez-la à son tour.",
	"cle-suspendue": "Une clé suspendue ne se remplace pas. Révoquez-en une autre, et elle revient.",
	"cles-remplacees": "Trop de clés remplacées servent encore, chacune pendant 24\u00a0heures\u00a0: " +
		"révoquez-en une, ou attendez. Rien n’a été changé.",
	"point-deja-cree": "Cette demande a déjà été faite, et rien n’a été créé de plus. Un secret ne " +
		"s’affiche qu’une fois\u00a0: si vous ne l’avez pas copié, remplacez-le.",
	"points-changes": "Vos points de réception ont changé depuis l’ouverture de cette page\u00a0: vérifiez, " +
		"puis recommencez. Rien n’a été créé.",
	"point-change":   "Les changements sont enregistrés.",
	"point-supprime": "Le point de réception est supprimé, et son journal avec lui.",
	"point-en-pause": "Le point de réception est en pause\u00a0: plus rien n’y est envoyé.",
	"point-actif":    "L’envoi reprend.",
	"point-suspendu": "Le point de réception n’est plus en pause, mais suspendu\u00a0: " +
		"la formule de ce compte ne comprend pas les webhooks.",
	"point-sans-pro": "La formule de ce compte ne comprend pas les webhooks\u00a0: rien n’a été envoyé.",
	"secret-deja-remplace": "Cette demande a déjà été faite, et le secret n’a pas changé de nouveau. Si vous ne " +
		"l’avez pas copié, remplacez-le encore.",
	"essai":         "Il n’y a pas encore de réponse à l’essai\u00a0: rechargez cette page pour la voir.",
	"trop-d-essais": "Cinq essais et soixante renvois par minute, c’est le plus\u00a0: patientez une minute.",
	"point-inactif": "Le point de réception n’est pas actif\u00a0: un essai n’arriverait pas. Reprenez-le " +
		"ou réactivez-le d’abord.",
	"reprise-en-cours": "Une récupération est déjà en cours\u00a0: attendez qu’elle soit finie.",
	"reprise":          "La récupération est demandée\u00a0: les envois manqués partent l’un après l’autre.",
	"reprise-plus-tard": "La récupération est demandée\u00a0: les envois manqués partiront quand le point de " +
		"réception sera actif.",
	"renvoi": "L’envoi repart\u00a0: rechargez cette page pour voir la réponse.",
	"suppression": "Un courriel part vers votre adresse\u00a0: suivez son lien dans les 15\u00a0minutes pour " +
		"confirmer. Rien n’est encore supprimé.",
	"suppression-limite": "Trop de courriels ont été demandés pour cette adresse\u00a0: patientez une heure, " +
		"un jour au plus, puis recommencez. Rien n’est supprimé.",
}
