package format_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

func TestParseRefuses(t *testing.T) {
	tooLong := strings.Repeat("x", format.MaximumTimeZone+1)
	for _, c := range []struct {
		text string
		want error
		says string
	}{
		{"", format.ErrInvalid, "empty"},
		{"\xff", format.ErrInvalid, "UTF-8"},
		{"i\x00", format.ErrInvalid, "zero byte"},
		{strings.Repeat("i", format.MaximumText+1), format.ErrInvalid, "bytes are more than"},
		{"ii", format.ErrInvalid, `"i" follows "i"`},
		{"i ", format.ErrInvalid, `" " follows "i"`},
		{"tdD:", format.ErrInvalid, `":" follows "tdD"`},
		{"+lx", format.ErrInvalid, `"x" follows "+l"`},
		{"+s:", format.ErrInvalid, `":" follows "+s"`},
		{" i", format.ErrUnsupported, "unknown type"},
		{"+", format.ErrUnsupported, "unknown type"},
		{"v", format.ErrUnsupported, "unknown type"},
		{"tsx:UTC", format.ErrUnsupported, "unknown type"},
		{"+ux:1", format.ErrUnsupported, "unknown type"},
		{"w", format.ErrInvalid, "colon"},
		{"d", format.ErrInvalid, "colon"},
		{"+w", format.ErrInvalid, "colon"},
		{"+us", format.ErrInvalid, "colon"},
		{"tss", format.ErrInvalid, "colon"},
		{"tsn:\xff", format.ErrInvalid, "UTF-8"},
		{"tsn:" + tooLong, format.ErrInvalid, "time zone"},
		{"w:", format.ErrInvalid, "width"},
		{"w:-1", format.ErrInvalid, "width"},
		{"w:+1", format.ErrInvalid, "width"},
		{"w:01", format.ErrInvalid, "width"},
		{"w:1 ", format.ErrInvalid, "width"},
		{"w:1:2", format.ErrInvalid, "width"},
		{"w:2147483648", format.ErrInvalid, "width"},
		{"w:99999999999999999999", format.ErrInvalid, "width"},
		{"w:٣", format.ErrInvalid, "width"},
		{"+w:0", format.ErrUnsupported, "list size"},
		{"+w:00", format.ErrInvalid, "list size"},
		{"+w:2147483648", format.ErrInvalid, "list size"},
		{"d:", format.ErrInvalid, "expected a precision"},
		{"d:5", format.ErrInvalid, "expected a precision"},
		{"d:5,2,128,1", format.ErrInvalid, "expected a precision"},
		{"d:0,0", format.ErrInvalid, "precision"},
		{"d:39,0", format.ErrInvalid, "precision"},
		{"d:77,0,256", format.ErrInvalid, "precision"},
		{"d:5,", format.ErrInvalid, "scale"},
		{"d:5,-0", format.ErrInvalid, "scale"},
		{"d:5,-", format.ErrInvalid, "scale"},
		{"d:5,--1", format.ErrInvalid, "scale"},
		{"d:5,-01", format.ErrInvalid, "scale"},
		{"d:5,39", format.ErrInvalid, "scale"},
		{"d:5,-77,256", format.ErrInvalid, "scale"},
		{"d:5,2,", format.ErrInvalid, "width"},
		{"d:5,2,32", format.ErrUnsupported, "width"},
		{"d:5,2,64", format.ErrUnsupported, "width"},
		{"+ud:,", format.ErrInvalid, "type id 0"},
		{"+ud:1,", format.ErrInvalid, "type id 1"},
		{"+ud:1,128", format.ErrInvalid, "type id 1"},
		{"+us:-1", format.ErrInvalid, "type id 0"},
		{"+us:3,4,3", format.ErrInvalid, "type id 2: 3 is repeated"},
		{"+us:3 ,4", format.ErrInvalid, "type id 0"},
	} {
		t.Run(c.text[:min(len(c.text), 20)], func(t *testing.T) {
			p, err := format.Parse(c.text)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
			require.Less(t, len(err.Error()), 400)
			_, err = p.Type(nil, 0, nil)
			require.ErrorIs(t, err, format.ErrInvalid)
		})
	}
}
