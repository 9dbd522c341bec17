package catalog

// A Licence is what the publisher says about reuse, instead of free use with credit. Its name may be
// Reserved.
type Licence struct{ Name, URL string }

// Reserved is the name of a Licence that permits nothing, and TrainingDenied the value of
// Settings.AITraining that asks for no training of models.
const (
	Reserved       = "reserved"
	TrainingDenied = "deny"
)

// Terms returns the name of the publisher's own terms of use, "" if the data are free with credit, and
// the address of the terms. The catalogue must be sorted.
func (c *Catalog) Terms() (name, url string) {
	url = c.URL + "/licence"
	if c.IsReserved() {
		return "Tous droits réservés", url
	}
	for _, own := range c.Settings.Licence {
		return own.Name, own.URL
	}
	if own := c.Page("licence"); own != nil {
		return own.Title, url
	}
	return "", url
}

// IsReserved reports whether the publisher reserves all rights.
func (c *Catalog) IsReserved() bool {
	return len(c.Settings.Licence) > 0 && c.Settings.Licence[0].Name == Reserved
}

// DeniesTraining reports whether the publisher asks that no models be trained on the catalogue.
func (c *Catalog) DeniesTraining() bool {
	return c.Settings.AITraining == TrainingDenied || c.Settings.AITraining == "" && len(c.Settings.Licence) > 0
}
