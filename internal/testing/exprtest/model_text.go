package exprtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// textResult computes the operations on strings, OneOf and TableRank. It reports false for others.
func textResult(n *exprtree.Node, operands []any) (any, bool) {
	if n.Op == exprtree.OneOf {
		return hasWord(operands[1].(string), operands[0]), true
	}
	if n.Op == exprtree.TableRank {
		count, table := int64(0), operands[1].(string)
		for i := range len(table) / 4 {
			entry := int32(binary.LittleEndian.Uint32([]byte(table[4*i:])))
			if int64(entry)-n.Constant*int64(i) <= operands[0].(int64) {
				count++
			}
		}
		return count, true
	}
	if n.Op == exprtree.Format {
		return fmt.Sprint(operands[0]), true
	}
	text, ok := operands[0].(string)
	if !ok {
		return nil, false
	}
	at := func(i int) int { return int(max(min(operands[i].(int64), int64(len(text))), 0)) }
	switch n.Op {
	case exprtree.ParseInteger:
		return parsedInteger(text, n.Kind()), true
	case exprtree.ParseDate:
		return parsedDate(text), true
	case exprtree.Seek:
		from, wanted := operands[2].(int64), operands[1].(string)
		for i := from; i >= 0 && i+int64(len(wanted)) <= int64(len(text)); i++ {
			if text[i:i+int64(len(wanted))] == wanted {
				return i + int64(len(wanted)), true
			}
		}
		return int64(-1), true
	case exprtree.Like:
		return matches(text, operands[1].(string)), true
	case exprtree.LengthBytes:
		return int64(len(text)), true
	case exprtree.LengthChars:
		return int64(len(starts(text))), true
	case exprtree.CharOffset:
		all, i := starts(text), operands[1].(int64)
		if i < 0 {
			i = max(i+int64(len(all)), 0)
		}
		if i >= int64(len(all)) {
			return int64(len(text)), true
		}
		return int64(all[i]), true
	case exprtree.SpaceStart:
		for i, r := range text {
			if !unicode.IsSpace(r) {
				return int64(i), true
			}
		}
		return int64(len(text)), true
	case exprtree.SpaceEnd:
		for text != "" {
			r, width := utf8.DecodeLastRuneInString(text)
			if !unicode.IsSpace(r) {
				break
			}
			text = text[:len(text)-width]
		}
		return int64(len(text)), true
	case exprtree.Join:
		for _, more := range operands[1:] {
			text += more.(string)
		}
		return text, true
	case exprtree.Upper, exprtree.Lower:
		return changed(text, n.Op == exprtree.Upper), true
	case exprtree.Replace:
		if operands[1] == "" {
			return text, true
		}
		return strings.Join(strings.Split(text, operands[1].(string)), operands[2].(string)), true
	case exprtree.Reverse:
		result, positions := "", append(starts(text), len(text))
		for i := range positions[1:] {
			result = text[positions[i]:positions[i+1]] + result
		}
		return result + text[:positions[0]], true
	case exprtree.ByteRange:
		return text[at(1):max(at(1), at(2))], true
	}
	return nil, false
}

var integerPattern, datePattern = regexp.MustCompile("^[+-]?[0-9]+$"), regexp.MustCompile("^([0-9]{4})-([0-9]{2})-([0-9]{2})$")

func parsedInteger(text string, kind exprtree.Kind) any {
	x, ok := new(big.Int).SetString(text, 10)
	switch {
	case !ok || !integerPattern.MatchString(text):
		return nil
	case kind == exprtree.Uint64 && x.IsUint64() && text[0] >= '0':
		return x.Uint64()
	case kind == exprtree.Int64 && x.IsInt64():
		return x.Int64()
	}
	return nil
}

func parsedDate(text string) any {
	if !datePattern.MatchString(text) {
		return nil
	}
	number := func(digits string) int { n, _ := strconv.Atoi(digits); return n }
	at := time.Date(number(text[:4]), time.Month(number(text[5:7])), number(text[8:]), 0, 0, 0, 0, time.UTC)
	if at.Format("2006-01-02") != text {
		return nil
	}
	return int64(math.Floor(float64(at.Unix()) / 86_400))
}

// changed changes the case of each valid character.
func changed(text string, upper bool) string {
	result := ""
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			result += text[i : i+1]
		case upper:
			result += strings.ToUpper(string(r))
		default:
			result += strings.ToLower(string(r))
		}
	}
	return result
}

// starts returns the positions at which characters begin.
func starts(text string) (positions []int) {
	for i := range len(text) {
		if text[i] < 0x80 || text[i] > 0xbf {
			positions = append(positions, i)
		}
	}
	return positions
}

func hasWord(table string, value any) bool {
	var word uint64
	switch x := value.(type) {
	case bool:
		if x {
			word = 1
		}
	case int64:
		word = uint64(x)
	case uint64:
		word = x
	case float64:
		if x != x {
			return false
		}
		word = math.Float64bits(x + 0) // −0 becomes 0
	}
	for ; table != ""; table = table[8:] {
		if binary.LittleEndian.Uint64([]byte(table[:8])) == word {
			return true
		}
	}
	return false
}

// matches tries every length for each LikeMany.
func matches(text, pattern string) bool {
	if pattern == "" {
		return text == ""
	}
	unit, rest := int(pattern[0])+int(pattern[1])<<8, pattern[2:]
	switch unit {
	case exprtree.LikeMany:
		for i := range len(text) + 1 {
			if matches(text[i:], rest) {
				return true
			}
		}
		return false
	case exprtree.LikeOne:
		if text == "" || text[0] >= 0x80 && text[0] <= 0xbf {
			return false
		}
		next := 1
		for ; next < len(text) && text[next] >= 0x80 && text[next] <= 0xbf; next++ {
		}
		return matches(text[next:], rest)
	}
	return text != "" && int(text[0]) == unit && matches(text[1:], rest)
}
