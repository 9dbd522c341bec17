package content

import canonical "palmares/internal/record"

// The words of the forms, in French.

// A groupText is a group of fields, in their order.
type groupText struct {
	label  string
	fields []fieldText
}

// A fieldText is what a form says about a field.
type fieldText struct{ name, label, rule string }

const valueRule = "Un nombre, ou true ou false pour un critère auquel on répond par oui ou non."

// choiceLabels are the words for the values of enumerated fields.
var choiceLabels = map[string]string{
	"vibe-coder": "Vibe coders", "agentic-engineer": "Agentic engineers", "mixte": "Les deux publics",
	"gratuit": "Gratuit", "freemium": "Freemium", "payant": "Payant",
	"1": "1 (le plus haut)", "2": "2", "3": "3",
	"paid": "Payé par nous", "lent": "Prêté", "free": "Gratuit", "offered": "Offert",
	"add": "S’ajoute à ce qui est connu", "replace": "Remplace tout ce qui est connu",
	"mort": "Mort", "acquis": "Acquis", "deprecie": "Déprécié", "pivot": "Pivot", "absorbe": "Absorbé",
	"header": "En haut des pages", "footer": "En bas des pages", "none": "Nulle part",
	"allow": "Permis", "deny": "Refusé",
	"show": "Visible", "hide": "Invisible", "serif": "Avec empattements", "sans": "Sans empattements",
	"open": "Libre, avec mention de la source", "reserved": "Tous droits réservés",
	"mark": "Note de 0 à 10", "measure": "Mesure", "yesno": "Oui ou non", "higher": "Plus, c’est mieux", "lower": "Moins, c’est mieux",
	"full": "Les fiches entières", "head": "Les fiches sans leur texte", "on": "Oui", "off": "Non",
}

// Fields that several kinds of records have.
var (
	slugText    = fieldText{"slug", "Adresse", "Le nom de la fiche dans son adresse : lettres sans accent, chiffres et tirets simples."}
	authorText  = fieldText{"author", "Auteurs", "Une personne par ligne, comme la page la nomme."}
	imageText   = fieldText{"image", "Image", "Une image du dossier, montrée avec le texte et par les réseaux sociaux."}
	draftText   = fieldText{"draft", "Brouillon", "Un brouillon n’est pas publié, et peut rester incomplet."}
	publishText = fieldText{"publish_at", "Paraît le", "Jusqu’à cette heure, personne ne voit la fiche ; vide : dès la publication."}
	updatedText = fieldText{"updated_at", "Mise à jour", "Vide : le jour où la fiche a changé pour la dernière fois."}
	aliasText   = fieldText{"aliases", "Anciennes adresses", "Une par ligne ; elles mènent à cette fiche."}
	endText     = fieldText{"unpublish_at", "Disparaît le", "À partir de cette heure, la page n’est plus servie ; vide : jamais."}
	aboutText   = fieldText{"description", "Description", "Une ligne pour les listes et les moteurs de recherche."}
	bodyText    = fieldText{"body", "Texte", "En Markdown ; un titre de niveau 2 (##) commence une section."}
	sourcesText = fieldText{"sources", "Sources", "Une adresse complète par ligne : comment vous le savez."}
	usagesText  = fieldText{"usages", "Usages", "Ceux de la catégorie auxquels l’outil convient."}

	priceHistoryText = fieldText{"price_history", "Historique des prix", "Se tient tout seul ; notez ici ce que le site ne peut pas savoir."}
	scoreHistoryText = fieldText{"score_history", "Historique des notes", "Se tient tout seul ; notez ici ce que le site ne peut pas savoir."}
)

// formTexts are the groups of each kind of record.
var formTexts = map[canonical.Kind][]groupText{
	canonical.Tool: {
		{"Ce que c’est", []fieldText{
			{"name", "Nom", "Le nom de l’outil, comme son éditeur l’écrit."},
			slugText,
			{"domain", "Domaine", "Le nom de son site, sans https:// : outil.example."},
			{"category", "Catégorie", "Une de celles que les réglages déclarent."},
			{"icp", "Public", "Pour qui l’outil est fait."},
			{"tagline", "Accroche", "Ce que fait l’outil, en une ligne."},
			{"affiliate_url", "Lien affilié", "L’adresse complète où mène le lien « Site », si vous en tirez un revenu ; la page /transparence doit le dire. Sans effet sur la note."},
		}},
		{"Texte", []fieldText{
			bodyText,
			{"summary", "Verdict", "Le verdict en une phrase, 300 caractères au plus."},
			{"pros", "Points forts", "Un par ligne, huit au plus."},
			{"cons", "Points faibles", "Un par ligne, huit au plus."},
		}},
		{"Prix", []fieldText{
			{"pricing", "Modèle", "Gratuit, freemium ou payant."},
			{"price", "Prix", "Un montant en euros pour une période : 0 €/mois, 19,99 €/mois, 1 200 €/an."},
			{"price_display", "Prix affiché", "Ce que le site montre à la place du prix, par exemple : Sur devis, dès 400 €/mois."},
			{"plans", "Offres", "Une ligne par offre, avec son nom et son prix en toutes lettres."},
			{"price_checked_at", "Prix vérifié le", "Le jour où le prix a été lu chez l’éditeur."},
			{"price_source", "Page du prix", "L’adresse complète de la page où l’éditeur donne ce prix ; vide : les sources de son domaine."},
			{"price_source_hint", "Offre sur cette page", "Le nom de l’offre, comme la page l’écrit, si elle en montre plusieurs : Pro."},
		}},
		{"Note", []fieldText{
			{"score", "Note", "De 0 à 10 ; vide : l’outil n’est pas testé."},
			{"verifiability", "Vérifiabilité", "De 0 à 10 : ce que l’éditeur affirme se contrôle-t-il ?"},
			{"obsolescence", "Obsolescence", "De 0 à 10 : le risque d’être dépassé ; moins, c’est mieux."},
			{"score_note", "Pourquoi la note change", "Une explication pour l’historique des notes."},
			{"criteria", "Critères", "Ce que le test a mesuré, par critère de la catégorie ; ce qui n’a pas été mesuré est absent."},
			usagesText,
			{"tested_at", "Testé le", "Le jour du test."},
			{"tested_version", "Version testée", "Celle de l’outil, telle que son éditeur la nomme."},
			{"tested_plan", "Offre testée", "L’offre dont le testeur s’est servi."},
			{"access", "Accès", "Comment le testeur a eu accès à l’outil."},
			{"interests", "Liens d’intérêt", "Ce que les lecteurs doivent savoir de vous et de l’éditeur."},
			{"protocol", "Protocole", "La version sous laquelle l’outil a été testé ; vide : celle de la catégorie à ce jour."},
		}},
		{"Présentation", []fieldText{
			authorText,
			{"logo", "Logo", "Une image du dossier, carrée de préférence."},
			imageText,
			{"tier", "Rang", "1 est le plus haut ; 3 si rien n’est dit."},
			{"mainstream", "Grand public", "Cochez si tout le monde connaît l’outil."},
			{"title_tag", "Titre pour les moteurs", "Vide : le nom de l’outil, « note, prix et fiche »."},
			{"description", "Description pour les moteurs", "Une ligne ; vide : le nom et l’accroche."},
		}},
		{"Sources", []fieldText{
			sourcesText,
		}},
		{"Calendrier", []fieldText{
			draftText, publishText,
			{"announced", "Changements annoncés", "Un prix ou une fin que l’éditeur annonce, avec son jour ; l’un ou l’autre par ligne."},
		}},
		{"Autres", []fieldText{
			aliasText, updatedText,
			{"added_at", "Ajouté le", "Vide : le jour où l’outil est arrivé dans un catalogue déjà publié."},
			{"canonical_url", "Adresse de la page", "Vide : celle du site."},
			{"avis_url", "Adresse de l’avis", "Vide : celle du site."},
			{"alternatives_url", "Adresse des alternatives", "Vide : celle du site."},
			priceHistoryText,
			{"price_history_mode", "Mode de l’historique des prix", "Ce que deviennent les prix déjà connus."},
			scoreHistoryText,
			{"score_history_mode", "Mode de l’historique des notes", "Ce que deviennent les notes déjà connues."},
			{"criteria_history", "Historique des critères", "Se tient tout seul ; ce qu’un critère valait avant et après."},
		}},
	},
	canonical.Comparison: {
		{"Ce que c’est", []fieldText{
			{"title", "Titre", "La question que le comparatif tranche."},
			slugText,
			{"tool_a", "Premier outil", "Un outil actif et noté."},
			{"tool_b", "Second outil", "Un autre outil actif et noté."},
			{"winner", "Gagnant", "L’un des deux."},
			{"winner_note", "Pourquoi", "La raison, en quelques phrases."},
			authorText, imageText,
		}},
		{"Texte", []fieldText{bodyText}},
		{"Calendrier", []fieldText{
			draftText, publishText,
			{"published", "Publié", "Décochez pour retirer le comparatif du site sans l’effacer."},
		}},
		{"Autres", []fieldText{aliasText, updatedText}},
	},
	canonical.Retired: {
		{"Ce que c’était", []fieldText{
			{"name", "Nom", "Le nom que l’outil avait."},
			slugText,
			{"category", "Catégorie", "Celle où il se trouvait."},
			{"reason", "Raison", "Ce qui lui est arrivé."},
			{"retired_at", "Retiré le", "Le jour où l’outil a cessé d’exister pour ses utilisateurs."},
			{"successor", "Successeur", "Un outil du catalogue qui le remplace, s’il y en a un."},
			{"leaving", "Comment partir", "Comment récupérer ses données et aller ailleurs."},
			sourcesText,
			usagesText,
		}},
		{"Texte", []fieldText{
			{"body", "Texte", "En Markdown : pourquoi l’outil n’est plus."},
		}},
		{"Prix", []fieldText{
			{"last_price", "Dernier prix", "Vide : celui que l’outil avait à sa fin."},
		}},
		{"Note", []fieldText{
			{"last_score", "Dernière note", "Vide : celle que l’outil avait à sa fin."},
		}},
		{"Calendrier", []fieldText{draftText, publishText}},
		{"Autres", []fieldText{priceHistoryText, scoreHistoryText}},
	},
	canonical.Page: {
		{"Ce que c’est", []fieldText{
			{"title", "Titre", "Le titre de la page."},
			{"slug", "Adresse", "La page a cette adresse : /mentions-legales ; elle ne doit pas être une de celles du site."},
			{"menu", "Menu", "Où le site mène à la page."},
			aboutText, imageText, authorText,
			{"date", "Date", "Le jour que la page montre ; vide : aucun."},
		}},
		{"Texte", []fieldText{bodyText}},
		{"Calendrier", []fieldText{draftText, publishText, endText}},
		{"Autres", []fieldText{aliasText}},
	},
	canonical.Article: {
		{"Ce que c’est", []fieldText{
			{"title", "Titre", "Le titre de l’article."},
			slugText, authorText,
			{"date", "Date", "Le jour de l’article."},
			aboutText, imageText,
			{"category", "Catégorie", "Celle dont l’article parle, s’il parle d’une seule."},
			{"tools", "Outils", "L’adresse d’un outil par ligne, dans l’ordre : leurs pages mènent à l’article."},
			{"sponsored", "Sponsorisé", "Cochez si quelqu’un a payé pour l’article : le site le dit partout où il le montre."},
		}},
		{"Texte", []fieldText{bodyText}},
		{"Calendrier", []fieldText{draftText, publishText, endText}},
		{"Autres", []fieldText{aliasText}},
	},
	canonical.Author: {
		{"Qui c’est", []fieldText{
			{"name", "Nom", "Comme les fiches et les articles le donnent dans « Auteurs »."},
			slugText,
			{"role", "Rôle", "Ce que la personne fait ici, en une ligne."},
			imageText,
			{"links", "Liens", "Une adresse complète par ligne."},
		}},
		{"Texte", []fieldText{bodyText}},
		{"Calendrier", []fieldText{draftText}},
	},
	canonical.Catalogue: {
		{"Le site", []fieldText{
			{"name", "Nom", "Le nom du site, qui signe ce que d’autres reprennent."},
			{"url", "Adresse", "L’adresse du site, avec https:// et sans rien derrière."},
			{"headline", "Titre de l’accueil", "Une ligne."},
			{"introduction", "Introduction", "Les premières lignes de l’accueil, en Markdown."},
			{"description", "Description", "Une ligne pour le bas des pages et les moteurs de recherche."},
			{"contact", "Contact", "Une adresse de courrier, ou celle d’une page."},
			{"publisher", "Éditeur", "Qui publie le site."},
			{"logo", "Logo", "Une image du dossier, carrée de préférence."},
		}},
		{"Apparence", []fieldText{
			{"theme", "Couleurs et titres", "Une couleur s’écrit # et six chiffres de 0 à f, comme #7a1f3d."},
			{"labels", "Mots du site", "Comment le site appelle ces champs et ces publics ; vide : comme ici."},
			{"share_image", "Image de partage", "Une image du dossier, que les réseaux montrent avec les pages qui n’ont pas la leur ; 1200 × 630 pixels."},
		}},
		{"Catégories", []fieldText{
			{"categories", "Catégories", "Dans l’ordre du site. L’adresse d’une catégorie ou d’un critère est un mot sans accent ni espace."},
		}},
		{"Droits", []fieldText{
			{"licence", "Licence", "Vide : le site se reprend librement, avec mention de la source."},
			{"ai_training", "Entraînement de modèles", "Vide : permis si la licence est libre, refusé sinon."},
			{"robots", "Lignes de robots.txt", "Une règle par ligne, telle que Disallow: /archives/."},
		}},
		{"Autres", []fieldText{
			{"timezone", "Fuseau horaire", "Celui des heures du dossier ; vide : Europe/Paris."},
			{"price_max_age", "Prix à revoir après", "En jours : au-delà, un prix est dit non confirmé ; vide : 90."},
			{"warnings", "Avertissements", "Ce que le site doit taire."},
			{"pro", "L’offre Pro", "Invisible, le site n’en parle pas."},
			{"readership", "Audience", "Le site compte les vues de ses pages, sans rien retenir de qui les lit."},
			{"analytics", "Script de mesure", "Un script d’un autre serveur, par exemple de Matomo ou de Plausible."},
			{"dataset", "Données à copier", "Ce que d’autres programmes peuvent copier sous /data/v1 ; « Non » leur laisse la recherche."},
		}},
	},
}

// columnTexts are what a form says about the columns of rows.
var columnTexts = map[string]fieldText{
	"name":              {label: "Nom"},
	"price":             {label: "Prix"},
	"note":              {label: "Remarque"},
	"changed_at":        {label: "Changé le"},
	"old_pricing":       {label: "Ancien modèle"},
	"old_price":         {label: "Ancien prix"},
	"new_pricing":       {label: "Nouveau modèle"},
	"new_price":         {label: "Nouveau prix"},
	"old_score":         {label: "Ancienne note"},
	"new_score":         {label: "Nouvelle note"},
	"old_verifiability": {label: "Ancienne vérifiabilité"},
	"new_verifiability": {label: "Nouvelle vérifiabilité"},
	"old_obsolescence":  {label: "Ancienne obsolescence"},
	"new_obsolescence":  {label: "Nouvelle obsolescence"},
	"from":              {label: "À partir du"},
	"pricing":           {label: "Modèle"},
	"price_display":     {label: "Prix affiché"},
	"retire":            {label: "Fin", rule: "La raison, si l’outil cesse."},
	"successor":         {label: "Successeur"},
	"source":            {label: "Source", rule: "L’adresse complète de l’annonce."},
	"accent":            {label: "Couleur"},
	"accent_dark":       {label: "Couleur sur fond sombre", rule: "Vide : une nuance assez claire de la première."},
	"font":              {label: "Titres"},
	"verifiability":     {label: "Vérifiabilité"},
	"obsolescence":      {label: "Obsolescence"},
	"vibe-coder":        {label: "Vibe coders"},
	"agentic-engineer":  {label: "Agentic engineers"},
	"mixte":             {label: "Les deux publics"},
	"icp":               {label: "Le public des outils", rule: "Invisible, le site ne dit nulle part à qui un outil s’adresse."},
	"licence.name":      {label: "Conditions", rule: "« Libre, avec mention de la source », « Tous droits réservés », ou le nom d’autres conditions."},
	"url":               {label: "Adresse des conditions", rule: "L’adresse complète où elles se lisent, si elles ont leur propre nom."},
	"ignore":            {label: "À taire", rule: "Une sorte d’avertissement par ligne."},
	"script":            {label: "Adresse du script", rule: "Elle commence par https://."},
	"connect":           {label: "Serveur", rule: "Celui auquel le script envoie, sans rien derrière : https://mesure.example."},
	"slug":              {label: "Adresse"},
	"label":             {label: "Nom"},
	"description":       {label: "Description"},
	"aliases":           {label: "Anciennes adresses, une par ligne"},
	"usages":            {label: "Usages"},
	"protocol":          {label: "Protocole de test"},
	"criteria":          {label: "Critères"},
	"profiles":          {label: "Profils de lecteurs"},
	"weights":           {label: "Poids des critères"},
	"version":           {label: "Version"},
	"page":              {label: "Page qui l’explique"},
	"since":             {label: "Depuis le"},
	"kind":              {label: "Sorte"},
	"unit":              {label: "Unité"},
	"better":            {label: "Sens"},
	"worst":             {label: "Le pire"},
	"best":              {label: "Le mieux"},
	"old":               {label: "Avant"},
	"new":               {label: "Après"},
}
