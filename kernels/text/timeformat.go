package text

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// directives are the letters of directives after %, as in strftime of C.
var directives = map[byte]directive{
	'Y': yearNumber, 'y': yearOfCentury, 'm': monthNumber, 'd': dayOfMonth, 'j': dayOfYear, 'H': hourNumber, 'I': hourOfHalf, 'M': minuteNumber,
	'S': secondNumber, 'f': microseconds, 'L': milliseconds, 'N': nanoseconds, 'p': halfOfDay, 'B': monthName, 'b': monthShort, 'A': weekdayName,
	'a': weekdayShort, 'u': weekdayNumber, 'V': isoWeek, 'G': isoYear, 'z': zoneOffset,
}

// formatLetters are the letters in messages.
const formatLetters = "%Y %y %m %d %j %H %I %M %S %f %L %N %p %B %b %A %a %u %V %G %z %F %T %%"

// mostDirectives is the length of a format.
const mostDirectives = 256

// timeFormat compiles a format.
func timeFormat(format string) ([]directive, error) {
	var list []directive
	expanded := strings.NewReplacer("%%", "%%", "%F", "%Y-%m-%d", "%T", "%H:%M:%S").Replace(format)
	for i := 0; i < len(expanded); i++ {
		c := expanded[i]
		if c != '%' {
			list = append(list, directive(c))
			continue
		}
		i++
		if i < len(expanded) && expanded[i] == '%' {
			list = append(list, '%')
			continue
		}
		var letter byte
		if i < len(expanded) {
			letter = expanded[i]
		}
		d, ok := directives[letter]
		if !ok {
			return nil, fmt.Errorf("the format %q has the directive %q, expected one of %s: %w", format, expanded[i-1:min(i+1, len(expanded))], formatLetters, expr.ErrLiteral)
		}
		list = append(list, d)
	}
	if len(list) > mostDirectives {
		return nil, fmt.Errorf("the format %q has %d directives and bytes, expected at most %d: %w", format, len(list), mostDirectives, expr.ErrLiteral)
	}
	return list, nil
}

// formatBytes is a format in the memory of a device.
func formatBytes(list []directive) []byte {
	var bytes []byte
	for _, d := range list {
		bytes = binary.NativeEndian.AppendUint16(bytes, uint16(d))
	}
	return bytes
}
