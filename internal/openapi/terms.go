package openapi

import (
	"regexp"

	"palmares/internal/snapshot"
)

var (
	freeOfRights = regexp.MustCompile(`Les données sont libres de droits, à une condition.: citer leur origine par`)
	inBulk       = regexp.MustCompile(`.; l’export, /data/v1/export, a tout le catalogue`)
)

// Terms returns a text of a document with what it says about reuse: the publisher's own terms take
// the place of ours, and an export that is not offered is not named.
func Terms(snap *snapshot.Snapshot, text string) string {
	if !snap.Catalog.HasDataset() {
		text = inBulk.ReplaceAllString(text, "")
	}
	if name, _ := snap.Catalog.Terms(); name == "" {
		return text
	}
	own := "Les conditions de réutilisation sont à l’adresse /licence. Qui reprend les données affiche"
	if snap.Catalog.IsReserved() {
		own = "Tous droits sont réservés : voir /licence. Qui cite les données affiche"
	}
	return freeOfRights.ReplaceAllString(text, own)
}
