package billing

// CheckPrice is what Run does once before it looks at anybody.
var CheckPrice = (*Billing).checkPrice
