package reference

import (
	"palmares/internal/markdown"
	"palmares/internal/web"
)

// An errorCode explains one error code of the API and how to fix what causes it.
type errorCode struct {
	ID      string
	Code    string
	Status  int
	Meaning string
	Fix     string
}

// errorCodes returns the error codes that /api returns, in the order of their status.
func errorCodes() []errorCode {
	var list []errorCode
	for _, c := range web.Codes {
		if c.Meaning != "" && !c.Dataset {
			code := string(c.Code)
			list = append(list, errorCode{
				errorAnchor(code).ID, code, c.Status, markdown.NoBreak(c.Meaning),
				markdown.NoBreak(c.Fix),
			})
		}
	}
	return list
}

func errorAnchor(code string) anchor { return anchor{"erreur-" + code, code} }
