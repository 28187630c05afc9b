package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// The right side of a join is copied to each device, unless to move both sides by a hash is expected
// to take less time.
func TestDistributedJoins(t *testing.T) {
	const copied, moved = "all-gather among 4 devices", "shuffle among 4 devices"
	usual := plan.Devices{Count: 4, Way: "peer copies", LeastBytes: 64 << 20}
	pinned, small, any := usual, usual, usual
	pinned.Way, pinned.Pinned = "pinned memory", true
	small.Memory = 1 << 30
	any.LeastBytes = 0
	for name, c := range map[string]struct {
		left, right int64
		kind        join.Kind
		inOrder     bool
		devices     plan.Devices
		want        string
	}{
		"a tenth of many rows":           {left: 1_000_000_000, right: 100_000_000, want: copied},
		"a quarter":                      {left: 60_000_000, right: 15_000_000, want: copied},
		"as many":                        {left: 100_000_000, right: 100_000_000, want: moved},
		"as many, semi join":             {left: 100_000_000, right: 100_000_000, kind: join.Semi, want: moved},
		"as many, in order":              {left: 100_000_000, right: 100_000_000, inOrder: true, want: copied},
		"as many, few":                   {left: 10_000_000, right: 10_000_000, want: copied},
		"as many, few, all are divided":  {left: 10_000_000, right: 10_000_000, devices: any, want: moved},
		"many on the right":              {left: 10_000_000, right: 200_000_000, want: moved},
		"more than the memory":           {left: 1_000_000_000, right: 100_000_000, devices: small, want: moved},
		"a quarter, by pinned memory":    {left: 60_000_000, right: 15_000_000, devices: pinned, want: copied},
		"as many, by pinned memory":      {left: 60_000_000, right: 60_000_000, devices: pinned, want: moved},
		"unknown":                        {left: 60_000_000, right: -1, want: copied},
		"few, with rows without a match": {left: 60_000_000, right: 15_000_000, kind: join.Full, want: moved},
	} {
		t.Run(name, func(t *testing.T) {
			if c.devices.Count == 0 {
				c.devices = usual
			}
			b := builder{t}
			left := b.project(ofRows(t, "", c.left), expr.Col("id"), expr.Col("price"))
			right := b.project(ofRows(t, "_r", c.right), expr.Col("id_r"), expr.Col("price_r"))
			joined := b.join(left, right, plan.JoinOptions{
				Kind: c.kind, Keys: []plan.JoinKey{{Left: expr.Col("id"), Right: expr.Col("id_r")}}, AnyOrder: !c.inOrder,
			})
			made, err := plan.Distribute(joined, c.devices)
			require.NoError(t, err)
			text := strings.Join(lines(made), "\n")
			require.Contains(t, text, c.want)
			if c.want == copied {
				require.NotContains(t, text, moved)
				require.Equal(t, 1, strings.Count(text, "gather from"), "only the result is gathered:\n%s", text)
			}
		})
	}
}
