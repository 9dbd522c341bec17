package desk

import (
	"embed"
	"net/http"
)

//go:embed help/*.png
var helpPictures embed.FS

type helpPage struct{ page }

// showHelp explains the desk to somebody who writes.
func (d *desk) showHelp(r *request) (*response, error) {
	return render("help", helpPage{r.page("Aide")}), nil
}

func (d *desk) showHelpPicture(r *request) (*response, error) {
	picture, err := helpPictures.ReadFile("help/" + r.PathValue("picture"))
	if err != nil {
		return nil, noPage()
	}
	return &response{write: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Cache-Control", "private, max-age=3600")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(picture) // fails only when the client is gone
	}}, nil
}
