package staging

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The parts of copies have all bytes in order, at their places, and none is longer than a part.
func TestParts(t *testing.T) {
	source := make([]byte, 3*longPart+5)
	for _, lengths := range [][]int{{}, {0}, {1}, {longPart}, {longPart - 1, 1, 1}, {3*longPart + 5}, {longPart / 2, 2 * longPart, 0, longPart/2 + 1}, {5, longPart, longPart}} {
		var direct []directCopy
		at := 0
		for _, n := range lengths {
			direct = append(direct, directCopy{at: 0, data: source[at : at+n]})
			direct[len(direct)-1].at = direct[len(direct)-1].at.Add(uint64(at))
			at += n
		}
		next, list := uint64(0), parts(direct)
		for i, part := range list {
			bytes := uint64(0)
			for _, d := range part {
				require.EqualValues(t, next, d.at)
				require.Same(t, &source[next], &d.data[0])
				next, bytes = next+d.bytes(), bytes+d.bytes()
			}
			require.LessOrEqual(t, bytes, uint64(longPart))
			require.True(t, i == len(list)-1 || bytes == longPart, "only the last part is shorter")
		}
		require.EqualValues(t, at, next)
	}
}
