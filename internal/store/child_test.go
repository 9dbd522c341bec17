package store

var children = map[string]func(){}
