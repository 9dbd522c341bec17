package pseudonym

import (
	"net/netip"
	"testing"
)

func TestANameDependsOnKeyKindAndValueAndIsTheSameOnEveryNode(t *testing.T) {
	four, six := netip.MustParsePrefix("203.0.113.9/32"), netip.MustParsePrefix("::ffff:cb00:7109/64")
	keys := []Key{{1}, {2}}
	seen := map[Name]bool{}
	for _, key := range keys {
		for _, kind := range []string{"requests", "calls"} {
			for _, network := range []netip.Prefix{four, six, netip.MustParsePrefix("203.0.113.0/24")} {
				seen[key.Of(kind, Network(network))] = true
			}
		}
	}
	if len(seen) != 12 {
		t.Errorf("12 values have %d names", len(seen))
	}
	if got := keys[0].Of("requests", Network(four)).String(); got != "b558dc6ed67d0a56c73c988cb9f7bc25" {
		t.Errorf("the name of a known value is %s", got)
	}
	if one, other := NewKey(), NewKey(); one == other {
		t.Error("two keys are the same")
	}
}
