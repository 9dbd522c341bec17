package webhookapi

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
