package accountdb

import (
	"reflect"
	"time"

	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// scanFields reads a row whose columns are the fields of a struct, in their order.
func scanFields[T any](scan sqldb.Scanner, to *T) error { return scan(columnsOf(to)...) }

// columnsOf returns what Scan reads the fields of a struct with, in their order.
func columnsOf(to any) (all []any) {
	v := reflect.ValueOf(to).Elem()
	for i := range v.NumField() {
		p := v.Field(i).Addr().Interface()
		switch to := p.(type) {
		case *time.Time:
			all = append(all, sqldb.Time(to))
		case *[]string:
			all = append(all, (*list)(to))
		case *webhook.Failure:
			all = append(all, columnsOf(to)...)
		default:
			all = append(all, p)
		}
	}
	return all
}
