package desk

import (
	"embed"
	"net/http"

	"palmares/internal/forms"
)

//go:embed help/*.png
var helpPictures embed.FS

// showHelp explains the desk to somebody who writes.
func (d *records) showHelp(r *request) (*response, error) {
	return render("help", r.page("Aide")), nil
}

func (d *records) showHelpPicture(r *request) (*response, error) {
	picture, err := helpPictures.ReadFile("help/" + r.PathValue("picture"))
	if err != nil {
		return nil, errNoPage
	}
	return forms.File(http.StatusOK, "image/png", picture, "Cache-Control", "private, max-age=3600"), nil
}
