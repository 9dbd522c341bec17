package account

// An Owner says whose keys, endpoints and deliveries a call may see: one account's, or
// everybody's. Records of others are not found. The zero value owns nothing, so that a
// forgotten argument finds nothing.
type Owner struct {
	accountID string
	any       bool
}

// OwnedBy returns the owner of what belongs to one account.
func OwnedBy(accountID string) Owner { return Owner{accountID: accountID} }

// AnyOwner returns the owner of everything. It is for the operator's commands and for
// background work, never for a request.
func AnyOwner() Owner { return Owner{any: true} }

// Owner returns the owner of what belongs to the account.
func (a Account) Owner() Owner { return OwnedBy(a.ID) }

// Any reports whether o owns everything.
func (o Owner) Any() bool { return o.any }

// AccountID returns the account whose records o owns. It is "" for AnyOwner and for
// the zero value.
func (o Owner) AccountID() string { return o.accountID }
