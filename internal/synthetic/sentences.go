package synthetic

import "palmares/internal/catalog"

// A topic is the subject of one section of a review.
type topic struct {
	id        string // of the anchor, when editors chose one
	headings  []string
	sentences []string
	extra     func(*generator, subject) // a list or a table that suits it, or nil
}

// topics are in the order of a review; the last one ends every review. The anchor
// of a heading must not equal the id of another topic.
var topics = []topic{
	{
		id: "prise-en-main", headings: []string{"Prise en main", "Premiers pas"}, extra: (*generator).steps,
		sentences: []string{
			"L’inscription prend {n} minutes et ne demande qu’une adresse électronique.",
			"Le premier écran propose {tache}, ce qui évite la page blanche.",
			"Un guide de {n} étapes accompagne {public} jusqu’au premier résultat.",
			"Nous avons importé {terrain} sans rien préparer, et {constat}.",
			"Les raccourcis sont {adverbe} rappelés à l’écran, et ils se devinent.",
			"Aucune carte bancaire n’est exigée pendant les {d} premiers jours.",
		},
	},
	{
		id: "methode", headings: []string{"Méthode d’essai", "Comment nous avons testé"},
		sentences: []string{
			"Nous avons confié à {nom} {n} tâches identiques à celles de ses concurrents.",
			"Chaque épreuve est répétée {n} fois, {rythme}, par deux personnes différentes.",
			"Le corpus comprend {terrain}, ainsi que {d} demandes rédigées par nos soins.",
			"Les durées sont relevées de l’envoi à la réponse complète.",
			"Une réussite compte si le résultat est utilisable *sans retouche*.",
			"Le protocole complet est [publié avec les données](https://synthetique.example/methode).",
		},
	},
	{
		id: "essai", headings: []string{"Notre essai", "Sur le terrain"}, extra: (*generator).trials,
		sentences: []string{
			"Sur {terrain}, {nom} réussit {d}\u00a0% des épreuves.",
			"Pour {tache}, {constat}, avec {atout}.",
			"Confronté à {terrain}, {nom} demande {adverbe} une précision avant de répondre.",
			"Le même essai, repris {rythme}, donne un écart inférieur à {n}\u00a0points.",
			"Quand on passe à {tache}, le ton change et {constat}.",
			"Les {n} échecs relevés tiennent tous à {defaut}.",
		},
	},
	{
		id: "points-forts", headings: []string{"Ce qui convainc", "Les points forts"}, extra: (*generator).strengths,
		sentences: []string{
			"Le premier mérite tient en peu de mots\u00a0: **{atout}**.",
			"Pour {tache}, {nom} se montre {adjectif} du premier au dernier essai.",
			"Nous avons aussi apprécié {atout}, plus rare qu’on ne le croit.",
			"Face à {concurrence}, l’avantage se mesure en minutes gagnées {rythme}.",
			"Le réglage `mode strict` évite {d}\u00a0% des réponses approximatives.",
			"Enfin, {public} y trouvera {atout}.",
		},
	},
	{
		id: "limites", headings: []string{"Ce qui déçoit", "Limites relevées"}, extra: (*generator).weaknesses,
		sentences: []string{
			"La principale réserve porte sur {defaut}.",
			"À partir de {d} requêtes par heure, la file d’attente s’allonge.",
			"Pour {tache}, mieux vaut prévoir une relecture humaine.",
			"Deux mises à jour ont cassé {tache} pendant nos essais.",
			"Ajoutons {defaut}, que l’éditeur dit vouloir corriger {saison}.",
			"Sur {terrain}, les réponses deviennent {adverbe} trop longues.",
		},
	},
	{
		id: "prix", headings: []string{"Prix et formules", "Combien ça coûte\u202f?"}, extra: (*generator).plans,
		sentences: []string{
			"La formule courante est affichée à {prix}, hors promotion.",
			"Le palier gratuit suffit à {tache} une fois par semaine.",
			"Passé {d} essais, le service ralentit mais ne s’arrête pas.",
			"La résiliation se fait en {n} clics, sans formulaire.",
			"À ce tarif, {public} rentre dans ses frais en {n} mois.",
			"Les crédits non utilisés sont {adverbe} reportés au mois suivant.",
		},
	},
	{
		id: "donnees", headings: []string{"Données et confidentialité", "Où vont les données\u202f?"},
		sentences: []string{
			"Les serveurs sont installés {lieu}, d’après la documentation.",
			"Les contenus envoyés sont effacés après {d} jours, sauf demande contraire.",
			"L’entraînement sur les données des clients est désactivé par défaut.",
			"Un registre des sous-traitants est tenu à jour, {n} noms y figurent.",
			"La suppression du compte a pris {n} jours lors de notre essai.",
			"L’accord de traitement est téléchargeable sans passer par un commercial.",
		},
	},
	{
		id: "public", headings: []string{"Pour qui\u202f?", "À qui s’adresse-t-il\u202f?"},
		sentences: []string{
			"{nom} convient d’abord à {public}.",
			"Pour {public}, {tache} justifie à elle seule l’abonnement.",
			"En revanche, {public} se heurtera à {defaut}.",
			"Il faut compter {n} heures de formation par personne.",
			"Les profils techniques iront plus loin grâce à l’interface de programmation.",
			"On le recommandera moins volontiers pour {tache}.",
		},
	},
	{
		id: "verdict", headings: []string{"Verdict", "En résumé"},
		sentences: []string{
			"Au bout du compte, {constat}, surtout pour {tache}.",
			"{nom} vaut le détour si l’on cherche {atout}.",
			"Il lui manque peu de chose pour dépasser {concurrence}.",
			"Nous referons le test {saison}, car {defaut} peut encore disparaître.",
			"À {prix}, {public} y trouvera son compte.",
			"Le choix dépendra de la place que tient {tache} dans la semaine.",
		},
	},
}

var openings = []string{
	"{nom} promet {tache} en quelques minutes. Nous l’avons utilisé {rythme} pour savoir si {constat}.",
	"Peu connu il y a un an, {nom} s’est fait une place auprès d’un public exigeant. Son argument\u00a0: {atout}.",
	"On nous demande souvent si {nom} mérite son prix. Après {d} jours d’essai, la réponse est nuancée.",
	"Avec {nom}, l’éditeur vise {public}. Le pari est clair, l’exécution l’est un peu moins.",
}

var generalSentences = []string{
	"Dans la durée, {nom} reste {adjectif}, même lorsque la charge augmente.",
	"Nous avons noté {d} réponses exactes sur une centaine, un chiffre proche de {concurrence}.",
	"L’équipe a essayé {tache} {rythme}\u00a0; {constat}.",
	"Un utilisateur sur {n} abandonne à cette étape, d’après notre enquête.",
	"Le comportement change {adverbe} d’une session à l’autre.",
	"Avec {terrain}, il a fallu reformuler la demande {n} fois.",
	"L’éditeur annonce une amélioration {saison}, sans engagement écrit.",
	"On retrouve ici {atout}, comme lors de notre premier passage.",
	"Rien n’empêche de confier {tache} à plusieurs personnes, à condition de découper le travail.",
	"Les journaux montrent une attente moyenne de {n}\u00a0secondes, parfois {d} en soirée.",
	"À l’usage, {defaut} agace plus que prévu.",
	"Une fonction discrète mérite d’être citée\u00a0: elle garde la trace de {d} versions.",
	"Les réglages par défaut conviennent à {public}.",
	"Chez {public}, {constat} au bout de {n} semaines.",
	"L’interface distingue bien ce qui est su de ce qui est supposé.",
	"Le mode collaboratif, limité à {n} personnes, a tenu tout l’essai.",
	"Comparé à {concurrence}, le service se montre {adverbe} plus bavard.",
	"Il suffit d’un exemple bien choisi pour que {tache} avance plus vite.",
	"Les erreurs sont signalées clairement, avec une proposition de correction.",
	"Sur ce point, les avis recueillis auprès de {d} lecteurs rejoignent le nôtre.",
	"Nous avons refait la mesure avec {terrain}, et {constat}.",
	"Un bouton permet de revenir en arrière, ce qui rassure {public}.",
	"Seule ombre au tableau, {defaut} revient {adverbe} dans les commentaires.",
	"La version en ligne et la version de bureau donnent le même résultat à {n}\u00a0% près.",
	"Pour {tache}, compter environ {d} minutes de préparation.",
	"Le vocabulaire technique est respecté, y compris avec {terrain}.",
}

var firstSteps = []string{
	"Créer un espace et choisir la langue.",
	"Importer {terrain}.",
	"Lancer {tache}.",
	"Comparer le résultat avec l’original.",
	"Partager le lien avec {public}.",
}

var duelTitles = []string{
	"{nom} ou {rival}\u00a0: lequel choisir\u202f?",
	"{nom} contre {rival}, le comparatif",
	"{nom} face à {rival} pour {tache}",
	"{nom} et {rival} au banc d’essai",
}

var duelNotes = []string{
	"{nom} l’emporte grâce à {atout}\u00a0; {rival} reste pénalisé par {defaut}.",
	"Pour {tache}, {nom} prend l’avantage sur {rival}, et {constat}.",
	"À {prix}, {nom} offre {atout}. {rival} garde ses fidèles auprès d’un public averti.",
	"L’écart est mince, mais {nom} se montre plus {adjectif} et {rival} s’incline.",
}

var duelSentences = []string{
	"Les deux outils ont reçu les mêmes consignes, {rythme}.",
	"Sur {terrain}, {nom} termine {n} minutes avant {rival}.",
	"{rival} se rattrape avec {atout}.",
	"Pour {tache}, aucun des deux ne dispense d’une relecture.",
	"Le prix départage peu, la constance davantage.",
	"Nos {d} lecteurs testeurs ont **préféré {nom}** dans leur majorité.",
	"Il faudra revoir ce classement {saison}.",
}

// retiredNotes begin with the name of the tool and do not repeat it.
var retiredNotes = map[catalog.Reason][]string{
	"mort": {
		"{nom} a fermé ses serveurs après {n} ans d’activité. Les comptes ont été effacés {d} jours plus tard.",
		"{nom} a cessé de répondre sans annonce. Le site renvoie depuis une page vide.",
	},
	"acquis": {
		"{nom} a été racheté, et ses clients ont été invités à passer chez {rival}.",
		"{nom} a changé de mains\u00a0: le nouveau propriétaire a mis fin aux inscriptions en {n} semaines.",
	},
	"deprecie": {
		"{nom} n’est plus maintenu. La dernière version date d’avant la migration des modèles et {constat}.",
		"{nom} reste en ligne, mais l’éditeur ne corrige plus rien et conseille désormais {rival}.",
	},
	"pivot": {
		"{nom} a abandonné {tache} pour un tout autre métier.",
		"{nom} se consacre désormais au conseil\u00a0; le produit que nous avions noté n’existe plus.",
	},
	"absorbe": {
		"{nom} est devenu une fonction d’une suite plus large, sans abonnement séparé.",
		"{nom} a été intégré à {rival}, qui reprend {tache}.",
	},
}

var retiredEndings = []string{
	"Les exports restent possibles pendant {d} jours auprès du support.",
	"Nous gardons la fiche pour mémoire, car {public} nous la demande encore.",
	"La note attribuée lors du dernier essai n’est plus publiée.",
}
