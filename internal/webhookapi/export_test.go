package webhookapi

// Patterns returns the patterns of all routes, for tests.
func (h *Handler) Patterns() []string {
	var all []string
	for _, r := range h.routes {
		all = append(all, r.pattern)
	}
	return all
}

// ParseBody is parseBody, for tests.
func ParseBody(raw []byte, names ...string) (map[string][]byte, error) {
	b, err := parseBody(raw, names)
	if err != nil {
		return nil, err
	}
	fields := map[string][]byte{}
	for name, value := range b {
		fields[name] = value
	}
	return fields, nil
}
