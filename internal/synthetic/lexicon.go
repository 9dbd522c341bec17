package synthetic

// A field is a category of tools and its vocabulary.
type field struct {
	slug     string
	label    string
	taglines []string
	tasks    []string // singular, with la or l’
	samples  []string // what a tool is tested on, with un or une
}

var fields = []field{
	{
		slug: "agents", label: "Agents autonomes",
		taglines: []string{
			"Des agents qui enchaînent {tache} et le compte rendu",
			"Un agent pour {tache}, sous votre contrôle",
			"L’équipe d’agents qui demande avant d’agir",
			"Planifiez, surveillez, reprenez la main\u00a0: des agents avec {atout}",
		},
		tasks: []string{
			"la veille quotidienne", "la prise de rendez-vous", "la saisie de factures", "l’orchestration de plusieurs outils",
			"la reprise après une erreur", "l’exploration d’un site inconnu",
		},
		samples: []string{
			"un parcours d’achat en douze étapes", "une boîte de réception partagée", "un tableau de bord interne",
			"une file de tickets en retard",
		},
	},
	{
		slug: "chat", label: "Assistants de conversation",
		taglines: []string{
			"L’assistant qui cite ses sources pour {tache}",
			"Une conversation claire et {atout}",
			"Posez la question, gardez la trace",
			"Votre assistant pour {tache}, en français d’abord",
		},
		tasks: []string{
			"la synthèse d’un long rapport", "la rédaction d’un courriel délicat", "l’analyse d’un contrat",
			"la traduction d’une notice",
			"la recherche d’une référence", "l’aide aux devoirs",
		},
		samples: []string{
			"un rapport annuel de 180 pages", "une foire aux questions d’assurance", "un corpus de lois consolidées",
			"une série de questions pièges",
		},
	},
	{
		slug: "code", label: "Développement",
		taglines: []string{
			"L’assistant de développement pensé pour {tache}",
			"Relit, explique et corrige, avec {atout}",
			"Moins d’attente entre l’idée et {tache}",
			"Un binôme patient pour {tache}",
		},
		tasks: []string{
			"la relecture d’une demande de fusion", "l’écriture de tests unitaires", "la migration d’une base ancienne",
			"l’explication d’un module inconnu",
			"la correction d’une régression", "la rédaction de la documentation",
		},
		samples: []string{
			"un dépôt de 40\u00a0000 lignes", "une bibliothèque sans aucun test", "un service en production depuis dix ans",
			"une application mobile inachevée",
		},
	},
	{
		slug: "image", label: "Image",
		taglines: []string{
			"De l’esquisse à l’affiche, sans quitter la page",
			"Un atelier d’image pour {tache}",
			"Des visuels cohérents et {atout}",
			"L’illustration sur mesure pour {tache}",
		},
		tasks: []string{
			"la retouche de portraits", "la création d’une affiche", "la déclinaison d’un logo",
			"la mise en couleurs d’un croquis",
			"la suppression d’un arrière-plan", "l’illustration d’un album",
		},
		samples: []string{
			"un lot de 60 photos de produits", "une charte graphique stricte", "une série de portraits en basse lumière",
			"un croquis au crayon",
		},
	},
	{
		slug: "video", label: "Vidéo",
		taglines: []string{
			"Montez vos vidéos comme un texte",
			"La vidéo courte, de {tache} à la publication",
			"Un banc de montage dans le navigateur, avec {atout}",
			"Pour {tache}, sans studio ni caméra",
		},
		tasks: []string{
			"la coupe des silences", "la génération de sous-titres", "la création d’une bande-annonce",
			"la stabilisation d’un plan",
			"l’animation d’une photo", "la correction des couleurs",
		},
		samples: []string{
			"un entretien filmé d’une heure", "une captation de conférence", "un tutoriel en douze plans",
			"une archive en noir et blanc",
		},
	},
	{
		slug: "voix", label: "Voix et audio",
		taglines: []string{
			"Une voix naturelle pour {tache}",
			"Écoute, transcrit et résume, avec {atout}",
			"Le studio de poche pour {tache}",
			"Faites parler vos textes, sans accent étranger",
		},
		tasks: []string{
			"la transcription d’une réunion", "la lecture d’un livre audio", "l’isolation d’une voix",
			"la traduction simultanée",
			"la création d’un jingle", "la dictée de comptes rendus",
		},
		samples: []string{
			"une réunion à six voix", "un enregistrement de rue", "une émission de radio locale",
			"un entretien en québécois",
		},
	},
}

func fieldOf(category string) *field {
	for i := range fields {
		if fields[i].slug == category {
			return &fields[i]
		}
	}
	panic("synthetic: no field for category " + category)
}

var sources = []string{
	"presse.example", "docs.fournisseur.example", "banc-essai.example", "forum-metiers.example", "observatoire.example",
}

// lexicon holds the lists for the other placeholders of the patterns.
var lexicon = map[string][]string{
	"atout": {
		"une réponse toujours sourcée", "un historique facile à relire", "une interface sobre",
		"une prise en main immédiate",
		"un export propre en Markdown", "une vitesse constante aux heures de pointe", "un mode hors ligne",
		"une aide en français impeccable",
		"un réglage fin du ton", "une facture lisible",
	},
	"defaut": {
		"un support lent le week-end", "une documentation incomplète", "un quota atteint trop vite",
		"une application mobile en retrait",
		"un export limité au PDF", "une mémoire capricieuse", "un vocabulaire parfois anglicisé",
		"une latence sensible le soir",
		"un changement de formule malaisé", "une recherche interne trop littérale",
	},
	"public": {
		"une petite équipe produit", "un indépendant pressé", "une agence de taille moyenne",
		"une direction informatique prudente",
		"un enseignant curieux", "une rédaction en ligne", "un service client débordé", "une association sans budget",
	},
	"rythme": {
		"chaque matin", "deux fois par semaine", "pendant un mois entier", "à chaque fin de sprint",
		"en conditions réelles", "sur trois machines différentes",
	},
	"constat": {
		"le résultat tient la route", "la qualité reste inégale", "le gain de temps est réel", "le doute persiste",
		"l’essentiel est là",
		"la promesse est tenue", "tout est à relire", "la différence se voit à peine",
	},
	"adverbe": {"rarement", "souvent", "presque toujours", "parfois", "sans surprise", "de temps à autre"},
	"adjectif": {
		"rapide", "fiable", "stable", "agréable", "lisible", "prévisible", "économe", "sobre",
	},
	"lieu":   {"en France", "en Irlande", "aux Pays-Bas", "au Canada", "en Allemagne", "dans une région au choix"},
	"saison": {"au printemps", "cet été", "à la rentrée", "en fin d’année", "avant la prochaine version majeure"},
	"concurrence": {
		"la moyenne de sa catégorie", "l’offre la plus chère du marché", "la version testée l’an dernier",
		"la génération précédente",
	},
}
