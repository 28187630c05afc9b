package gpuframe_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestDiagramSVG reads pictures of plans as XML: each operation has a box with its text, the boxes are within the picture
// and do not overlap, and arrows lead upwards.
func TestDiagramSVG(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	rows := e.Records(nil, counting(t, 20))
	id := gpuframe.Col("id")
	odd := "a <b> & \"c\"\x00\n" + strings.Repeat("long ", 40)
	sums := rows.GroupBy(id.Mod(3).As("k")).Agg(id.Sum().As("s"))
	for name, q := range map[string]gpuframe.Query{
		"scan": rows, "names": rows.With(id.Mul(2).As(odd)).Filter(gpuframe.Col(odd).Gt(3)).Head(3),
		"join":   sums.Join(rows, gpuframe.Inner, gpuframe.On(gpuframe.Col("s"), id)).Filter(gpuframe.Col("k").Lt(2)),
		"shared": sums.Join(sums.Rename("s", "t"), gpuframe.Inner, gpuframe.Col("k")),
	} {
		text, err := q.DiagramSVG(t.Context())
		require.NoError(t, err, name)
		var picture struct {
			XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
			Width   float64  `xml:"width,attr"`
			Height  float64  `xml:"height,attr"`
			Boxes   []struct {
				Title string `xml:"title"`
				Rect  struct {
					X      float64 `xml:"x,attr"`
					Y      float64 `xml:"y,attr"`
					Width  float64 `xml:"width,attr"`
					Height float64 `xml:"height,attr"`
				} `xml:"rect"`
			} `xml:"g"`
		}
		require.NoError(t, xml.Unmarshal([]byte(text), &picture), text)
		chart, err := q.Diagram(t.Context())
		require.NoError(t, err)
		require.Len(t, picture.Boxes, strings.Count(chart, "[\""), name)
		for i, b := range picture.Boxes {
			require.NotEmpty(t, b.Title)
			require.True(t, b.Rect.X > 0 && b.Rect.Y > 0 && b.Rect.X+b.Rect.Width < picture.Width && b.Rect.Y+b.Rect.Height < picture.Height, name)
			for _, other := range picture.Boxes[:i] {
				overlap := b.Rect.Y == other.Rect.Y && b.Rect.X < other.Rect.X+other.Rect.Width && other.Rect.X < b.Rect.X+b.Rect.Width
				require.False(t, overlap, "%s: %v and %v", name, b, other)
			}
		}
		require.Equal(t, strings.Count(chart, "-->"), strings.Count(text, "marker-end"), name)
		if name == "names" {
			require.Contains(t, text, "a &lt;b&gt; &amp; &#34;c&#34;")
		}
	}
}
