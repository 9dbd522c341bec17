// Package web is the HTTP layer that every part of the server shares: the form of errors and the one
// table of their codes, strict query parameters, who is calling, quotas, conditional requests,
// content codings, compression and caching.
//
// A JSON API is a Handler, its routes, and operations that each turn a Request into a Response or an
// error. The website uses the limits and parsers of parameters, Negotiate, Compressor and Responses;
// the API reference explains Codes.
//
// A request goes through the files from top to bottom: the routes in handler.go, a cached response in
// ready.go, its key and its quota in caller.go, what is sent in response.go and error.go.
package web
