package catalog

// Settings are the optional fields of catalogue.yaml; "" where the publisher gave
// none.
type Settings struct {
	Headline     string   // title of the home page
	Introduction string   // below it; plain text, perhaps of several lines
	Description  string   // for the footer and for search engines
	Contact      string   // mail address or URL
	Publisher    string   // name, for legal pages
	Logo         string   // path of a picture
	Timezone     string   // IANA name of the zone of its times; "" means DefaultZone
	Pro          string   // ProHide, or "" if the site may mention the Pro plan
	Dataset      string   // DatasetHead, DatasetOff, or "" if everything is given away in bulk
	PriceMaxAge  *float64 // days after which a price is no longer taken for current; nil for defaultPriceMaxAge
	ShareImage   string   // path of the picture that other sites show beside a link to a page without its own
	Theme        []Theme  // one, or none
	Labels       []Labels // one, or none

	Licence    []Licence // one, or none; see Catalog.Terms
	AITraining string    // TrainingDenied, "allow", or "" for what the licence suggests
	Robots     []string  // lines of robots.txt
	Warnings   []Silence // one, or none
	Readership string    // "off", or "" if views of pages are counted
}

// A Silence has the kinds of warnings about a folder that nobody wants to see.
type Silence struct{ Ignore []string }
