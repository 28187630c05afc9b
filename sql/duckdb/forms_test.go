package duckdb

import "strings"

// forms are expressions by their kinds: {kind} stands for an expression, {.kind} for a column, {'kind} for a literal, and {a|b} for one of
// several texts. Similarities are of ASCII: those of DuckDB compare bytes, and gpuframe's characters.
var forms = map[string][]string{
	"number": {
		"({number} + {number})", "({number} - {number})", "({.number} * {'number})", "({number} % {2|3|0})", "({number} // {2|3|-2|0})", "-({number})", "abs({number})", "sign({number})",
		"greatest({number}, {number})", "least({number}, {number}, 3)", "mod({number}, 3)", "({number} & 3)", "({number} | 4)", "round({number})", "cast({bool} as integer)", "cast({decimal} as integer)",
		"length({text})", "strpos({text}, {'o'|'a'|''|'bc'})", "position('b' in {text})", "strlen({text})", "instr({text}, 'b')", "try_cast({text} as integer)", "try_cast({text} as bigint)",
		"{year|month|day|quarter|dayofweek|isodow|dayofyear|week|isoyear|weekday|weekofyear|dayofmonth}({date})", "{year|month|day|hour|minute|second}({timestamp})",
		"extract({year|month|day|quarter|dow|doy|week|isodow} from {date})", "date_part('{hour|minute|year|month|day}', {timestamp})",
		"date_diff('{day|month|year|week|quarter}', {date}, {date})", "date_diff('{hour|minute|day|month|second}', {timestamp}, {timestamp})", "({date} - {date})",
		"if({bool}, {number}, {number})", "{'a': {number}, 'b': {text}}.a", "struct_extract({'p': {number}}, 'p')",
		"list_sum(list_transform([{number}, {number}, {'number}], e -> e {+|-|*} {.number}))", "len(list_filter([{number}, {.number}, {'number}], e -> e {>|<=|=} {number}))", "[{number}, {number}, {'number}][{1|2|-1|4}]",
		"list_position([{.number}, {number}], {number})", "len(range(abs({.number}) % 7, 5))", "list_max(generate_series(0, abs({.number}) % 5, 2))", "[{number}, {number}][abs({.number}) % 4]", "len([{number}, {number}, 3][abs({.number}) % 3:])",
		"list_sum([e + i for e, i in [{number}, {.number}]])", "len([e for e in [{text}, {text}] if e > {'text}])", "list_unique([{number}, {number}, {'number}])", "list_count(list_concat([{number}], [{number}, null]))",
		"list_sum(list_transform([{number}, 2], e -> len(list_filter([{.number}, 1, 5], d -> d < e))))", "list_first(list_append([{number}], {number}))", "list_last(list_prepend({number}, [{number}]))", "list_sort([{number}, {number}])[1]",
		"coalesce(case when {bool} then [{number}, {.number}] end, [{number}])[{1|2}]", "(case when {bool} then {'a': {number}, 'b': {text}} else {'a': {number}, 'b': null} end).a", "len(flatten([[{number}], [], case when {bool} then [{number}, 1] end]))", "list_reverse([{number}, {.number}, 1])[{1|3}]",
		"list_zip([{number}, {number}], [{.number}])[1][{1|2}]", "list_select([{number}, {number}, 3], [{2|3}, {1|9}])[1]", "list_resize([{number}, 2], 3, {.number})[3]", "len(list_where([{number}, {number}], [{bool}, {bool}]))", "len(coalesce(case when {bool} then [[{number}]] end, [[], [1]]))", "[[{number}], [{.number}, 1]][abs({.number}) % 3][1]",
		"levenshtein({text}, {text})", "bit_count({.number})", "gcd({.number}, {'number})", "case {number} when 0 then 5 when 1 then {number} when 2 then null when 3 then {.number} when 4 then 4 when 5 then {'number} when 6 then 6 else {number} end",
		"try_cast(json_extract_string(concat('[', coalesce({number}, 0), ',', coalesce({.number}, 7), ']'), '$[{0|1|2|-1}]') as integer)", "len(string_split({text}, {'b'|'o'}))", "len(regexp_extract_all({text}, '{[a-c]|o|b+}'))", "xor({.number}, {'number})",
	},
	"decimal": {
		"({.decimal} + {.decimal})", "({.decimal} - {'decimal})", "abs({decimal})", "({.decimal} * {'decimal})", "round({.decimal}, {1|0|2})", "-({.decimal})", "greatest({.decimal}, {.decimal})",
		"try_cast({text} as decimal(10,2))", "try_cast(cast({decimal} as varchar) as decimal(12,{1|2}))", "cast({.number} as decimal(18,2))", "least({.decimal}, {'decimal})", "({.decimal} + {'number})",
	},
	"double": {
		"({double} + {number})", "({double} - {double})", "({.double} * {'double})", "({number} / {number})", "({double} / {2|0|-4})", "abs({double})", "round({.double}, {1|0|2|-1})", "cast({decimal} as double)",
		"{floor|ceil|trunc|sign}({double})", "sqrt(abs({double}))", "ln(abs({double}) + 1)", "log10(abs({double}) + 1)", "exp(least({double}, 3))", "pow({.double}, 2)", "cast({number} as double)",
		"greatest({double}, {double})", "least({double}, {double})", "({decimal} / {decimal})", "epoch({timestamp})", "try_cast({text} as double)", "-({double})", "cos({number})", "list_avg([{number}, {number}])", "list_median([{number}, {.number}, {'number}])", "round(list_var_samp([{number}, {number}, 2]), 3)", "list_inner_product([{.number}, 1], [{.number}, {number}])", "list_sum([e / 2 for e in [{.double}, {.number}]])",
		"round(jaro_similarity(left(md5({text}), 6), md5({text})), 6)", "round(jaro_winkler_similarity(md5({text}), {'a1b2'|''|'0c'}), 6)", "round(jaccard(left(md5({text}), 4), {'abc'|'0123'}), 6)", "round(list_cosine_similarity([{.number}, 1], [{number}, 2]), 6)", "round(tan({number}), 6)", "log2(abs({.double}) + 1)", "cbrt({number})",
	},
	"text": {
		"lower({text})", "upper({text})", "{text} || {text}", "substring({text}, {1|2|0|5}, {0|1|2|9})", "substring({text}, {1|2|-1})", "substring({text} from 2 for 2)", "left({text}, {0|1|3})", "concat({text}, 'x', {text})",
		"replace({text}, {'o'|'a'|'bc'|''}, {'u'|''|'abc'})", "cast({number} as varchar)", "cast({.decimal} as varchar)", "cast({timestamp} as varchar)", "{text} || {.decimal}", "(case when {bool} then {'b': {text}} end).b", "array_to_string(list_reverse([{text}, {.text}, 'x']), '-')", "{trim|ltrim|rtrim}({text})", "reverse({text})", "repeat({text}, {0|1|2})", "regexp_replace({text}, '{[aeiou]|b+|^a}', '#', 'g')",
		"strftime({date}, '%Y-%m-%d {|%j|%H}')", "cast({date} as varchar)", "cast({bool} as varchar)", "{text} || {number}", "concat({number}, '-', {date}, {bool})", "{'a': {number}, 'b': {text}}.b", "({text})[1:2]",
		"strftime({timestamp}, '%H:%M:%S')", "({text})[{1|2|-1}]", "right({text}, {0|1|3})", "lpad({text}, {0|3|6}, '*')", "rpad({text}, {0|3|6}, '-')", "split_part({text}, 'b', {1|2|5})", "concat_ws('-', {text}, {text}, {number})",
		"array_to_string([{text}, {text}, {'text}], '{-|, |}')", "array_to_string(list_transform([{text}, {.text}], e -> e || {text}), '/')", "trim({text}, '{a|ab|b]}')", "[{text}, {'text}][{1|2}]", "{md5|sha1|sha256}({text})", "printf('%{05d|d|+d|-4d}|%s', {number}, {text})", "printf('%.{0|1|2}f', {.double})", "translate({text}, 'ab', '{xy|x|}')",
		"json_extract_string(concat('[\"', {'text}, '\", ', coalesce({number}, 1), ']'), '$[{0|1|2}]')", "array_to_string(regexp_split_to_array({text}, '{b|[ao]}'), '/')", "array_to_string(list_distinct([{'text}]), '-')", "strip_accents({text})", "array_to_string(list_filter([{text}, {text}], (e, i) -> i {=|<} 2 and e <> {'text}), '')",
	},
	"date": {
		"{date} + {1|30|-400}", "{date} - {1|59}", "cast(date_trunc('{month|year|week|quarter|day}', {date}) as date)", "last_day({date})", "greatest({date}, {date})", "cast({timestamp} as date)",
		"cast({date} + interval {1 day|'1' month|'2 years'|'1 year 3 days'|7 week} as date)", "cast({date} - interval {1 day|'1' month|'13 months'|'2 years'} as date)", "cast({date} + interval ({.number}) day as date)",
		"least({date}, {date})", "try_cast({.text} as date)", "{date} + ({.number})", "make_date(2000 + cast({bool} as integer), 2, 28)",
	},
	"timestamp": {
		"{timestamp} {+|-} interval {1 hour|'90 minutes'|'1' month|'2 days 3 hours'|'1 year'|30 second}", "{date} {+|-} interval '{1|2}' {month|hour|day|year}", "date_trunc('{hour|minute|second|day|month|year|week}', {timestamp})",
		"cast({date} as timestamp)", "{date} + interval ({.number}) month", "greatest({timestamp}, {timestamp})", "{timestamp} + interval (abs({.number}) % 10) hour", "least({timestamp}, {timestamp})",
	},
	"bool": {
		"({bool} and {bool})", "({bool} or {bool})", "not ({bool})", "{SAME} is {|not }null", "{SAME} {|not }between {SAME} and {SAME}", "{SAME} {|not }in ({'SAME}, {SAME}, {'SAME})", "{SAME} is {|not }distinct from {SAME}",
		"{SAME} {=|<>|<|<=|>|>=} {SAME}", "{SAME} {=|<>|<|<=|>|>=} {SAME}", "{SAME} {=|<|>=} {'SAME}", "{text} {|not }like {'%o'|'a%'|'_'|'%b%'|'a_c'|''}", "{text} ilike {'%O'|'A%'|'B'}", "{text} glob {'a*'|'?'|'[a-c]*'}",
		"{text} {~|similar to} '{[a-c]+|.*o|a|}'", "starts_with({text}, {'a'|'Os'|''})", "contains({text}, {'b'|''|'lo'})", "ends_with({text}, {'c'|'o'})", "regexp_matches({text}, '{b|^a|o$|[a-z][a-z]}')", "isnan({double})",
		"({bool}) is {|not }{true|false|unknown}", "({bool}) = ({bool})", "({bool}) <> ({bool})", "case when {bool} then {bool} else {bool} end", "coalesce({bool}, {bool})",
		"{SAME} in ({SAME})", "({number}, {text}) {=|<>} ({number}, {text})", "list_contains([{'number}, {number}, {'number}], {number})", "({number}, {date}) {<|>=} ({number}, {date})", "({number}, {text}) in (({number}, {text}), ({number}, 'a'))", "{number} in [1, {number}]", "isfinite({double})",
		"list_contains([{number}, {.number}], {number})", "list_has_any([{number}, {number}], [{number}, {'number}])", "list_has_all([{number}, {.number}], [{number}])", "list_has([{text}, {'text}], {text})", "[{number}, {number}] {=|<|<>|>=} [{number}, {.number}]", "[{text}] {=|<|>} [{text}, 'a']", "[{date}, {date}] is {|not }distinct from [{date}, {date}]", "{'a': {number}, 'b': {text}} {=|<|>=} {'a': {number}, 'b': {text}}", "list_contains([[{number}], [{number}, 1]], [{number}])", "case when {bool} then [{date}] end is null", "[{number}] in ([{number}], [{.number}, null])", "list_bool_{and|or}([e > {number} for e in [{number}, {number}]])",
	},
}

// anyForms are expressions of the kind SAME.
var anyForms = []string{
	"case when {bool} then {SAME} else {SAME} end", "case when {bool} then {SAME} when {bool} then {SAME} end", "coalesce({SAME}, {SAME})", "case {number} when {number} then {SAME} end",
	"case {text} when {'text} then {SAME} else {SAME} end", "nullif({SAME}, {SAME})", "ifnull({SAME}, {'SAME})",
}

// filled returns a form with expressions in its places.
func (g *generator) filled(in []field, form string, depth int) string {
	var text strings.Builder
	for {
		before, rest, ok := strings.Cut(form, "{")
		text.WriteString(before)
		if !ok {
			return text.String()
		}
		place, after, _ := strings.Cut(rest, "}")
		switch kind := strings.TrimLeft(place, ".'"); {
		case strings.HasPrefix(place, "'") && strings.Contains(place, ": "): // a struct
			text.WriteByte('{')
			form = rest
			continue
		case strings.Contains(place, "|"):
			text.WriteString(g.pick(strings.Split(place, "|")...))
		case strings.HasPrefix(place, "."):
			text.WriteString(g.column(in, kind))
		case strings.HasPrefix(place, "'"):
			text.WriteString(g.literal(kind))
		default:
			text.WriteString(g.expr(in, kind, depth-1))
		}
		form = after
	}
}
