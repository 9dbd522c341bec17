package sqldb

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestWhatWaitingCannotCureIsNotCalledTemporary(t *testing.T) {
	d := &postgresDialect{name: "db"}
	for _, test := range []struct {
		err       error
		permanent bool
	}{
		{&pgconn.PgError{Code: "28P01", Message: "password authentication failed"}, true},
		{&pgconn.PgError{Code: "3D000", Message: "database does not exist"}, true},
		{&pgconn.PgError{Code: "42501", Message: "permission denied"}, true},
		{&pgconn.PgError{Code: "53100", Message: "could not extend file: No space left on device"}, true},
		{&pgconn.PgError{Code: "57P04", Message: "database was dropped"}, true},
		{&pgconn.PgError{Code: "08P01", Message: "unsupported startup parameter: statement_timeout"}, true},
		{&pgconn.PgError{Code: "08P01", Message: "no such database: palmares"}, true},
		{&pgconn.PgError{Code: "42P05", Message: `prepared statement "stmtcache_1" already exists`}, true},
		{&pgconn.PgError{Code: "26000", Message: `prepared statement "stmtcache_1" does not exist`}, true},
		{&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, true},
		{&pgconn.PgError{Code: "08P01", Message: "server login has been failing, try again later"}, false},
		{&pgconn.PgError{Code: "08P01", Message: "query_wait_timeout"}, false},
		{&pgconn.PgError{Code: "57P03", Message: "the database system is starting up"}, false},
		{&pgconn.PgError{Code: "53300", Message: "sorry, too many clients already"}, false},
		{&pgconn.PgError{Code: "25006", Message: "read-only transaction"}, false},
		{&pgconn.PgError{Code: "55P03", Message: "lock not available"}, false},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, false},
		{pgconn.ErrConnClosed, false}, // by the driver, when the database went away meanwhile
	} {
		err := d.explain(test.err)
		explained, ok := errors.AsType[*Error](err)
		if !ok || explained.Permanent() != test.permanent || test.permanent && (errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "try again")) {
			t.Errorf("%v: %v; want it permanent: %v", test.err, err, test.permanent)
		}
	}
}
