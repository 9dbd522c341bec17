// Package web is the HTTP layer that every part of the server shares: the form of
// errors and the one table of their codes, strict query parameters, who is calling,
// quotas, conditional requests, content codings and compression.
//
// A JSON API is a Service, its routes, and operations that each turn a Request into an
// Answer or an error. Its handler is the same each time:
//
//	req.Begin(r)
//	defer req.End()
//	answer, err := find the operation; service.Admit(&req); run the operation
//	service.Reply(w, &req, &answer, err)
//
// Nothing is written before the whole answer is known, so that an answer can still be
// replaced by a quota error. The website uses the limits and parsers of parameters,
// Negotiate and Compressor; the API reference explains Codes.
package web
