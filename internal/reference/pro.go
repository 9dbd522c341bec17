package reference

import "strings"

// withoutPro removes what the document and the error codes say of the Pro plan, for a
// catalogue whose publisher does not offer it. A test finds what a new text says.
var withoutPro = strings.NewReplacer(
	`\n- Offre Pro (`+"`pro`)\u00a0: sans quota.", "",
	"\u202f; pour l’offre Pro, seulement `X-RateLimit-Tier`, `X-RateLimit-Remaining` (2147483647) et "+
		"`X-RateLimit-Reset`",
	"",
	"Une clé est nécessaire, Developer (gratuite) ou Pro.", "Une clé est nécessaire, gratuite.",
	"`free` (Developer) ou `pro`.", "`free` (Developer).",
	`"enum": ["free", "pro"]`, `"enum": ["free"]`,
	" Absent pour l’offre Pro, qui n’a pas de quota.", "",
	" Vaut 2147483647 pour l’offre Pro, qui n’a pas de quota.", "",
	" Absent pour l’offre Pro.", "",
	", ou revenez à l’offre Pro (voir /compte)", "",
	", ou revenez à l’offre Pro", "",
	", partez d’un export du catalogue, ou passez à l’offre Pro, sans quota.",
	", ou partez d’un export du catalogue.",
)

// NewWithoutPro is New for a page that does not mention the Pro plan, nor the webhooks
// that come with it.
func NewWithoutPro(raw []byte) *Reference {
	ref := New([]byte(withoutPro.Replace(string(raw))))
	ref.hidesPro = true
	for i := range ref.errors {
		ref.errors[i].Fix = withoutPro.Replace(ref.errors[i].Fix)
	}
	return ref
}
