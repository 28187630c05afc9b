package catalog

var (
	withPattern = params{{Name: "pattern", Type: Text}}
	withPath    = params{{Name: "path", Type: Text}}
	withPadding = params{{Name: "length", Go: "characters", Type: Whole}, {Name: "with", Type: Character}}
)

// onHost is how functions fuse that the host computes for every device.
const (
	onHost        = "no; on the host"
	emptySketch   = "the value is no such sketch, or one of no values"
	fusesLiterals = "yes; other texts than literals on the host"
	noJSON        = "the string is no JSON, or has no such value"
)

var readStrings = Section{"Strings that are read", Elementwise, "yes", []Row{
	{Operands: "strings, binaries; a text", Result: "bool", Fuses: fusesLiterals, Functions: []Function{
		{Name: "has_prefix", Aliases: []string{"starts_with"}, Parameters: withX, Call: "text.HasPrefix", Doc: "HasPrefix reports whether a string begins with x. The host finds an x that is no literal.",
			Python: "str.starts_with(prefix: IntoExpr)", PythonDoc: "Whether the string begins with a text. A str is a text, not a column; the host finds texts of other expressions."},
		{Name: "has_suffix", Aliases: []string{"ends_with"}, Parameters: withX, Call: "text.HasSuffix", Doc: "HasSuffix reports whether a string ends with x. The host finds an x that is no literal.",
			Python: "str.ends_with(suffix: IntoExpr)", PythonDoc: "Whether the string ends with a text. A str is a text, not a column; the host finds texts of other expressions."},
		{Name: "contains", Parameters: withX, Call: "text.Contains", Doc: "Contains reports whether a string contains x. The host finds an x that is no literal.",
			Python: "str.contains(pattern: IntoExpr)", PythonDoc: "Whether the string contains a text, as with Polars' literal=True. A str is a text, not a column; the host finds texts of other expressions."},
	}},
	{Operands: "strings, binaries; a text", Result: "int64", Fuses: fusesLiterals, Functions: []Function{
		{Name: "find", Aliases: []string{"strpos", "instr"}, Parameters: withX, Call: "text.FindText", Python: "str.find",
			Doc: "Find is the position of x in a string: in characters from 1, and 0 if the string does not contain it. The host finds an x that is no literal."},
	}},
	{Operands: "strings, binaries; a literal", Result: "int64", Functions: []Function{
		{Name: "count_of", Parameters: withX, Doc: "CountOf is the number of occurrences of x, a literal, in a string.", Call: "expr.Expr.Count",
			Python: "str.count_matches(pattern: str)", PythonDoc: "The number of occurrences of a text."},
	}},
	{Operands: "strings, binaries; a pattern", Result: "bool", Functions: []Function{
		{Name: "like", Parameters: params{{Name: "pattern", Type: Text}, {Name: "escape", Type: Character, Optional: true}}, Example: "like(origin, 'A%')", Python: "str.like",
			Doc: "Like reports whether a string matches a pattern: % is any number of characters, _ is one. A character after the escape character, if one is given, matches itself."},
	}},
	{Operands: "strings, binaries", Result: "int64", Functions: []Function{
		{Name: "length_bytes", Aliases: []string{"octet_length"}, Doc: "LengthBytes is the number of bytes of a string.", Python: "str.len_bytes()", PythonDoc: "The number of bytes."},
		{Name: "length_chars", Aliases: []string{"length", "char_length", "character_length"}, Doc: "LengthChars is the number of characters of a string.",
			Python: "str.len_chars()", PythonDoc: "The number of characters."},
	}},
	{Operands: "strings, binaries; a pattern", Result: "bool", Fuses: "no", Functions: []Function{
		{Name: "matches_regex", Parameters: withPattern, Call: "text.Matches", Example: "matches_regex(origin, '^[AB]')",
			Doc:    "MatchesRegex reports whether a string has a match of a regular expression in the syntax of package regexp.",
			Python: "str.matches(pattern: str)", PythonDoc: "Whether the string has a match of a regular expression in RE2's syntax, which is Go's."},
	}},
	{Operands: "strings, binaries; a pattern", Result: "int64", Fuses: "no", Functions: []Function{
		{Name: "find_regex", Parameters: withPattern, Call: "text.Find", Python: "str.find_regex",
			Doc: "FindRegex is the number of the character at which the first match begins, from 1, or 0 without a match."},
		{Name: "count_regex", Parameters: withPattern, Call: "text.Count", Doc: "CountRegex is the number of matches that do not overlap.",
			Python: "str.count_regex(pattern: str)", PythonDoc: "The number of matches of a regular expression that do not overlap."},
	}},
	{Operands: "strings, binaries", Result: "bool", Fuses: "no", Functions: []Function{
		{Name: "is_alpha", Call: "text.IsAlpha", Python: "str.is_alpha()", PythonDoc: "Whether all characters are letters, and there is one.",
			Doc: "IsAlpha reports whether all characters of a string are letters, as package unicode has them, and the string is not empty. Bytes that are no UTF-8 are of no class."},
		{Name: "is_digit", Call: "text.IsDigit", Doc: "IsDigit reports whether all characters are decimal digits and the string is not empty.",
			Python: "str.is_digit()", PythonDoc: "Whether all characters are decimal digits, and there is one."},
		{Name: "is_alnum", Call: "text.IsAlnum", Doc: "IsAlnum reports whether all characters are letters or decimal digits and the string is not empty.",
			Python: "str.is_alnum()", PythonDoc: "Whether all characters are letters or decimal digits, and there is one."},
		{Name: "is_space", Call: "text.IsSpace", Doc: "IsSpace reports whether all characters are white space and the string is not empty.",
			Python: "str.is_space()", PythonDoc: "Whether all characters are white space, and there is one."},
		{Name: "is_upper", Call: "text.IsUpper", Doc: "IsUpper reports whether a string has a letter in upper case and none in lower or title case.",
			Python: "str.is_upper()", PythonDoc: "Whether there is a letter in upper case and none in lower or title case."},
		{Name: "is_lower", Call: "text.IsLower", Doc: "IsLower reports whether a string has a letter in lower case and none in upper or title case.",
			Python: "str.is_lower()", PythonDoc: "Whether there is a letter in lower case and none in upper or title case."},
		{Name: "is_ascii", Call: "text.IsASCII", Doc: "IsASCII reports whether all bytes of a string are below 128.", Python: "str.is_ascii()", PythonDoc: "Whether all bytes are below 128."},
	}},
	{Operands: "strings, binaries; two of them", Result: "int64", Null: "the shorter one has more than 256 characters, or the longer one 65,536", Fuses: "no", Functions: []Function{
		{Name: "edit_distance", Parameters: withX, Call: "text.EditDistance",
			Doc:    "EditDistance is the number of characters to insert, remove or replace to make a string x: the distance of Levenshtein. It is null if the shorter one has more than 256 characters.",
			Python: "str.edit_distance(other: IntoExpr)", PythonDoc: "The number of characters to insert, remove or replace to make the string another. A str is a text, not a column."},
	}},
	{Operands: "strings, binaries; two of them", Result: "float64", Fuses: onHost, Functions: []Function{
		{Name: "jaro_similarity", Parameters: withX, Call: "text.JaroSimilarity", Doc: "JaroSimilarity is the similarity of Jaro of two strings, 0 to 1, by their characters.",
			Python: "str.jaro_similarity(other: IntoExpr)", PythonDoc: "The similarity of Jaro, 0 to 1. A str is a text, not a column."},
		{Name: "jaro_winkler_similarity", Parameters: withX, Call: "text.JaroWinklerSimilarity",
			Doc:    "JaroWinklerSimilarity is JaroSimilarity, raised for a common beginning of up to four characters if it is above 0.7.",
			Python: "str.jaro_winkler_similarity(other: IntoExpr)", PythonDoc: "The similarity of Jaro and Winkler, 0 to 1. A str is a text, not a column."},
		{Name: "jaccard_similarity", Aliases: []string{"jaccard"}, Parameters: withX, Call: "text.JaccardSimilarity",
			Doc:    "JaccardSimilarity is the number of different characters that two strings share, divided by that of those in either.",
			Python: "str.jaccard_similarity(other: IntoExpr)", PythonDoc: "The number of characters that two strings share, divided by that of those in either. A str is a text, not a column."},
	}},
	{Operands: "binaries; a sketch", Result: "float64", Null: "the value is no HLL sketch", Fuses: onHost, Functions: []Function{
		{Name: "hll_estimate", Call: "sketch.EstimateHLL", Doc: "HLLEstimate is about the number of distinct values that a sketch of [Expr.HLLSketch] has.",
			Python: "hll_estimate()", PythonDoc: "About the number of distinct values that a HLL sketch has. Polars has none."},
	}},
	{Operands: "binaries; a sketch", Result: "float64", Null: emptySketch, Fuses: onHost, Functions: []Function{
		{Name: "kll_quantile", Parameters: params{{Name: "rank", Type: Float}}, Call: "sketch.QuantileKLL", Example: "kll_quantile(sketch, 0.5)",
			Doc:    "KLLQuantile is about the value up to which a fraction rank of the values lies that a sketch of numbers has, of [Expr.KLLSketch]: the least one of 0, and the greatest one of 1, are exact.",
			Python: "kll_quantile(rank: float)", PythonDoc: "About the value up to which a fraction of the values of a KLL sketch of numbers lies. Polars has none."},
		{Name: "kll_rank", Parameters: params{{Name: "value", Type: Float}}, Call: "sketch.RankKLL", Example: "kll_rank(sketch, 10.5)",
			Doc:    "KLLRank is about the fraction of the values that are a value or less, of those that a sketch of numbers has. NaN is above all numbers.",
			Python: "kll_rank(value: float)", PythonDoc: "About the fraction of the values of a KLL sketch of numbers that are a value or less. Polars has none."},
		{Name: "kll_longs_rank", Parameters: params{{Name: "value", Type: Float}}, Call: "sketch.RankKLLLongs", Example: "kll_longs_rank(sketch, 10)",
			Doc:    "KLLLongsRank is [Expr.KLLRank] of a sketch of times: of the integers that store them.",
			Python: "kll_longs_rank(value: float)", PythonDoc: "About the fraction of the integers of a KLL sketch of times that are a value or less. Polars has none."},
		{Name: "kll_items_rank", Parameters: params{{Name: "value", Type: Text}}, Call: "sketch.RankKLLTexts", Example: "kll_items_rank(sketch, 'm')",
			Doc:    "KLLItemsRank is [Expr.KLLRank] of a sketch of strings, which have the order of their bytes.",
			Python: "kll_items_rank(value: str)", PythonDoc: "About the fraction of the strings of a KLL sketch that are a value or less. Polars has none."},
	}},
	{Operands: "binaries; a sketch", Result: "int64", Null: emptySketch, Fuses: onHost, Functions: []Function{
		{Name: "kll_longs_quantile", Parameters: params{{Name: "rank", Type: Float}}, Call: "sketch.QuantileKLLLongs", Example: "kll_longs_quantile(sketch, 0.5)",
			Doc:    "KLLLongsQuantile is [Expr.KLLQuantile] of a sketch of times: the integer that stores one, which Cast makes a time.",
			Python: "kll_longs_quantile(rank: float)", PythonDoc: "About the integer up to which a fraction of those of a KLL sketch of times lies. Polars has none."},
	}},
	{Operands: "binaries; a sketch", Result: "utf8", Null: emptySketch, Fuses: onHost, Functions: []Function{
		{Name: "kll_items_quantile", Parameters: params{{Name: "rank", Type: Float}}, Call: "sketch.QuantileKLLTexts", Example: "kll_items_quantile(sketch, 0.5)",
			Doc:    "KLLItemsQuantile is [Expr.KLLQuantile] of a sketch of strings.",
			Python: "kll_items_quantile(rank: float)", PythonDoc: "About the string up to which a fraction of those of a KLL sketch lies. Polars has none."},
	}},
	{Operands: "binaries; a sketch", Result: "int64", Null: "the value is no KLL sketch", Fuses: onHost, Functions: []Function{
		{Name: "kll_count", Call: "sketch.CountKLL", Doc: "KLLCount is the number of values that a sketch of [Expr.KLLSketch] has.",
			Python: "kll_count()", PythonDoc: "The number of values of a KLL sketch. Polars has none."},
	}},
	{Operands: "binaries; a sketch", Result: "list of structs of item, estimate, lower, upper", Null: "the value is no such sketch", Fuses: onHost, Functions: []Function{
		{Name: "frequent_items", Call: "sketch.FrequentTexts",
			Doc: "FrequentItems is the list of the strings that a sketch of [Expr.FrequentItemsSketch] has, the most frequent one first: structs of item, a string, and of estimate, lower and upper, int64. " +
				"The item occurs lower to upper times, and the estimate is upper.",
			Python: "frequent_items()", PythonDoc: "The list of the strings of a sketch of frequent items, the most frequent one first, with bounds of their numbers. Polars has none."},
		{Name: "frequent_longs", Call: "sketch.FrequentLongs", Doc: "FrequentLongs is [Expr.FrequentItems] of a sketch of integers, bools and times: the items are int64.",
			Python: "frequent_longs()", PythonDoc: "The list of the integers of a sketch of frequent items, the most frequent one first, with bounds of their numbers. Polars has none."},
	}},
	{Operands: "strings, binaries", Result: "uint64", Fuses: onHost, Functions: []Function{
		{Name: "xxh3", Call: "text.XXH3", Doc: "XXH3 is the hash of 64 bits of xxHash's XXH3 of the bytes of a string. [Hash] takes columns of any types, and devices compute it.",
			Python: "str.xxh3()", PythonDoc: "The hash of 64 bits of xxHash's XXH3 of the bytes."},
	}},
	{Operands: "strings, binaries", Result: "uint32", Fuses: onHost, Functions: []Function{
		{Name: "murmur3", Parameters: params{{Name: "seed", Type: Whole}}, Call: "text.Murmur3", Doc: "Murmur3 is the hash of 32 bits of MurmurHash3 of the bytes of a string, with a seed.",
			Example: "murmur3(origin, 0)", Python: "str.murmur3(seed: int = 0)", PythonDoc: "The hash of 32 bits of MurmurHash3 of the bytes."},
	}},
}}

var madeStrings = Section{"Strings that are made", Elementwise, "no", []Row{
	{Operands: "strings, binaries", Result: "the same", Fuses: "inside an expression", Functions: []Function{
		{Name: "substring", Parameters: params{{Name: "start", Type: Whole}, {Name: "length", Type: Whole}}, Example: "substring(origin, 1, 2)", Python: "str.slice",
			Doc: "Substring is length characters of a string from number start on, the first is 1, or from the end for a negative start."},
		{Name: "trim", Doc: "Trim is a string without the white space at both ends.", Python: "str.strip_chars()", PythonDoc: "The string without white space at both ends."},
		{Name: "trim_start", Doc: "TrimStart is a string without the white space at its beginning.",
			Python: "str.strip_chars_start()", PythonDoc: "The string without white space at its beginning."},
		{Name: "trim_end", Doc: "TrimEnd is a string without the white space at its end.", Python: "str.strip_chars_end()", PythonDoc: "The string without white space at its end."},
		{Name: "trim_prefix", Parameters: withX, Doc: "TrimPrefix is a string without x, a literal, at its beginning.",
			Python: "str.strip_prefix(prefix: str)", PythonDoc: "The string without a text at its beginning."},
		{Name: "trim_suffix", Parameters: withX, Doc: "TrimSuffix is a string without x, a literal, at its end.",
			Python: "str.strip_suffix(suffix: str)", PythonDoc: "The string without a text at its end."},
	}},
	{Operands: "strings, binaries; a literal", Result: "the same", Null: "no such part", Fuses: "inside an expression", Functions: []Function{
		{Name: "split_part", Parameters: params{{Name: "separator", Type: Text}, {Name: "number", Type: Whole}}, Call: "e.SplitPart(expr.Lit(separator), number)",
			Example: "split_part(route, '-', 2)", Python: "str.split_part",
			Doc: "SplitPart is a part of a string that is split at a separator, the first is 1. It is null if there are fewer parts."},
	}},
	{Operands: "strings, binaries", Result: "the same", Functions: []Function{
		{Name: "upper", Doc: "Upper is a string in upper case.", Python: "str.to_uppercase()", PythonDoc: "The string in upper case, character by character."},
		{Name: "lower", Doc: "Lower is a string in lower case.", Python: "str.to_lowercase()", PythonDoc: "The string in lower case, character by character."},
		{Name: "capitalize", Doc: "Capitalize is a string with its first character in upper case and the others in lower.",
			Python: "str.capitalize()", PythonDoc: "The string with its first character in upper case and the others in lower."},
		{Name: "reverse", Doc: "Reverse is the characters of a string in the opposite order.", Python: "str.reverse()", PythonDoc: "The characters in the opposite order."},
		{Name: "replace", Parameters: params{{Name: "old", Type: Text}, {Name: "with", Type: Text}}, Call: "e.Replace(expr.Lit(old), expr.Lit(with))", Example: "replace(route, '-', '/')",
			Doc:    "Replace is a string with one text in place of every occurrence of another.",
			Python: "str.replace_all(pattern: str, value: str)", PythonDoc: "The string with a text in place of every occurrence of another, as with Polars' literal=True."},
	}},
	{Operands: "strings, binaries; 0 to 65536 times", Result: "the same", Functions: []Function{
		{Name: "repeat", Parameters: params{{Name: "times", Type: Whole}}, Doc: "Repeat is a string a number of times, 0 to 65536.", Python: "str.repeat(n: int)", PythonDoc: "The string n times."},
	}},
	{Operands: "strings, binaries", Result: "the same", Null: "an operand is null", Functions: []Function{
		{Name: "pad_start", Parameters: withPadding, Doc: "PadStart is a string with a character in front until it has a number of characters.", Example: "pad_start(flight, 5, '0')",
			Python: `str.pad_start(length: int, fill_char: str = " ")`, PythonDoc: "The string with characters in front until it has a length."},
		{Name: "pad_end", Parameters: withPadding, Doc: "PadEnd is a string with a character behind until it has a number of characters.",
			Python: `str.pad_end(length: int, fill_char: str = " ")`, PythonDoc: "The string with characters behind until it has a length."},
		{Name: "concat", Free: true, Parameters: values, Doc: "Concat joins strings. It is null if one of them is.", Call: "expr.Concat", Python: "concat_str"},
	}},
	{Operands: "strings, binaries", Result: "the same", Null: "never", Functions: []Function{
		{Name: "concat_with", Aliases: []string{"concat_ws"}, Free: true, Parameters: params{{Name: "separator", Type: Text}, {Name: "values", Type: Operands}}, Body: "concatWith(separator, values)",
			Doc: "ConcatWith joins the strings that are not null, with a separator between them. Without any it is the empty string.", Example: "concat_with(', ', city, country)"},
	}},
	{Operands: "strings, binaries; a pattern", Result: "the same", Null: "no match, or the group takes no part in it", Functions: []Function{
		{Name: "extract_regex", Parameters: params{{Name: "pattern", Type: Text}, {Name: "group", Type: Whole}}, Call: "text.Extract", Example: "extract_regex(route, '(.*)-', 1)",
			Doc:    "ExtractRegex is the text of a group of the first match. Group 0 is the match. It is null without a match, and if the group takes no part in it.",
			Python: "str.extract(pattern: str, group_index: int = 1)", PythonDoc: "The text of a group of the first match of a regular expression; group 0 is the match. It is null if there is none."},
	}},
	{Operands: "strings, binaries; a pattern", Result: "the same", Functions: []Function{
		{Name: "replace_regex", Parameters: params{{Name: "pattern", Type: Text}, {Name: "with", Type: Text}}, Call: "text.Replace", Example: "replace_regex(route, '[0-9]+', '#')",
			Doc:       "ReplaceRegex is a string with another text in place of all matches, as regexp's ReplaceAllString: $1 or ${1} is the text of a group, ${name} that of a named group, $$ a dollar sign.",
			Python:    "str.replace_regex(pattern: str, value: str)",
			PythonDoc: "The string with a text in place of all matches of a regular expression; $1 or ${1} is a group, ${name} a named one, $$ a dollar sign."},
	}},
	{Operands: "strings, binaries", Result: "utf8; large_utf8 of large_utf8", Functions: []Function{
		{Name: "hex", Call: "text.Hex", Doc: "Hex is the bytes of a string or binary as hexadecimal digits.", Python: "str.encode"},
		{Name: "base64", Aliases: []string{"to_base64"}, Call: "text.Base64", Doc: "Base64 is the bytes of a string or binary in base64 with padding.", Python: "str.encode"},
	}},
	{Operands: "floats", Result: "utf8; the shortest text", Functions: []Function{
		{Name: "format_float", Call: "text.FormatFloat",
			Doc:    "FormatFloat is a float32 or float64 as the shortest text that is read as the same number, as strconv.FormatFloat(x, 'g', -1, bits) has it.",
			Python: "format_float()", PythonDoc: `A float as the shortest text that is read as the same number: "0.1", "1e+06".`},
	}},
	{Operands: "strings, binaries", Result: "binary; large_binary of large_utf8", Null: "the string is no such code", Functions: []Function{
		{Name: "unhex", Call: "text.Unhex", Doc: "Unhex is the bytes of hexadecimal digits, as binary. It is null for other strings.", Python: "str.decode"},
		{Name: "unbase64", Call: "text.Unbase64", Doc: "Unbase64 is the bytes of a string in base64, as binary. It is null for other strings.", Python: "str.decode"},
	}},
	{Operands: "strings, binaries; integers", Result: "the same", Fuses: "inside an expression", Functions: []Function{
		{Name: "substring_at", Parameters: params{{Name: "start"}, {Name: "length"}}, Example: "substring_at(url, find(url, '?') + 1, 100)",
			Doc: "SubstringAt is Substring from a start and of a length that are computed. A negative length is 0."},
	}},
	{Operands: "strings, binaries", Result: "utf8; large_utf8 of large_utf8, a binary of binaries", Fuses: onHost, Functions: []Function{
		{Name: "translate", Parameters: params{{Name: "from", Type: Text}, {Name: "to", Type: Text}}, Call: "text.Translate", Example: "translate(phone, '-()', ' ')",
			Doc:    "Translate is a string with each character of from replaced by the one at the same place in to, or removed if to is shorter.",
			Python: "str.translate(source: str, target: str)", PythonDoc: "The string with each character of one text replaced by the one at the same place in another, or removed. Polars has ``replace_many``."},
	}},
	{Operands: "strings", Result: "utf8; large_utf8 of large_utf8", Fuses: onHost, Functions: []Function{
		{Name: "normalize", Parameters: params{{Name: "form", Type: Text}}, Call: "text.Normalize", Example: "normalize(name, 'NFC')",
			Doc:    "Normalize is a string in a normal form of Unicode: NFC, NFD, NFKC or NFKD.",
			Python: `str.normalize(form: str = "NFC")`, PythonDoc: "The string in a normal form of Unicode: NFC, NFD, NFKC or NFKD."},
		{Name: "fold_case", Aliases: []string{"casefold"}, Call: "text.FoldCase", Doc: "FoldCase is a string in the form in which strings are equal that differ in case alone: \"ß\" becomes \"ss\".",
			Python: "str.fold_case()", PythonDoc: "The string in the form in which strings are equal that differ in case alone, as Python's ``casefold``."},
		{Name: "strip_accents", Call: "text.StripAccents", Doc: "StripAccents is a string without the marks on its letters, in form NFC.",
			Python: "str.strip_accents()", PythonDoc: "The string without the marks on its letters."},
	}},
	{Operands: "strings, binaries", Result: "utf8; large_utf8 of large_utf8", Fuses: onHost, Functions: []Function{
		{Name: "md5", Call: "text.MD5", Doc: "MD5 is the digest of the bytes of a string as 32 hexadecimal digits.", Python: "str.md5()", PythonDoc: "The digest of the bytes as 32 hexadecimal digits."},
		{Name: "sha1", Call: "text.SHA1", Doc: "SHA1 is the digest of the bytes of a string as 40 hexadecimal digits.", Python: "str.sha1()", PythonDoc: "The digest of the bytes as 40 hexadecimal digits."},
		{Name: "sha256", Call: "text.SHA256", Doc: "SHA256 is the digest of the bytes of a string as 64 hexadecimal digits.",
			Python: "str.sha256()", PythonDoc: "The digest of the bytes as 64 hexadecimal digits."},
	}},
	{Operands: "strings", Result: "utf8; large_utf8 of large_utf8", Null: noJSON, Fuses: onHost, Functions: []Function{
		{Name: "json_get", Aliases: []string{"json_extract"}, Parameters: withPath, Call: "text.JSONGet", Example: "json_get(event, '$.user.id')",
			Doc: "JSONGet is the value at a path of a JSON text, as JSON without white space. Paths are $.name[0].other, with negative numbers from the end " +
				"and names in double quotes if they have other characters; a text without $ is the name of a member.",
			Python: "str.json_get(path: str)", PythonDoc: "The value at a path such as ``$.name[0]`` of a JSON text, as JSON."},
		{Name: "json_text", Aliases: []string{"json_extract_string"}, Parameters: withPath, Call: "text.JSONText", Example: "json_text(event, '$.user.name')",
			Doc:    "JSONText is JSONGet as text: strings without quotes and escapes, null for JSON's null. A cast makes numbers and booleans of it.",
			Python: "str.json_path_match(json_path: str)", PythonDoc: "The value at a path such as ``$.name[0]`` of a JSON text, strings without quotes. A cast makes numbers and booleans of it."},
		{Name: "json_type", Parameters: withPath, Call: "text.JSONType", Doc: "JSONType is \"object\", \"array\", \"string\", \"number\", \"boolean\" or \"null\", the type of the value at a path of a JSON text.",
			Python: `str.json_type(path: str = "$")`, PythonDoc: "The type of the value at a path of a JSON text: object, array, string, number, boolean or null."},
	}},
	{Operands: "numbers, decimals, bools, strings; any number of any kinds", Result: "utf8", Null: "an operand is null", Fuses: onHost, Functions: []Function{
		{Name: "format", Go: "FormatText", Free: true, Parameters: params{{Name: "pattern", Type: Text}, {Name: "values", Type: Operands}}, Body: "formatted(text.Format, pattern, values)", Example: "format('{} of {:.1f}', name, price)",
			Doc: "FormatText is a text with values in place of {} and {:SPEC}, where SPEC is < or >, the flags +, space and 0, a width, a precision and one of the letters of [Printf]: numbers are at the right, other values at the left. {{ and }} are braces."},
		{Name: "printf", Free: true, Parameters: params{{Name: "pattern", Type: Text}, {Name: "values", Type: Operands}}, Body: "formatted(text.Printf, pattern, values)", Example: "printf('%05d', number)",
			Doc: "Printf is a text with values in place of verbs, as C and Go have them: %d, %x, %X and %o of integers, %f, %e and %g of numbers, %s of strings, numbers and booleans, " +
				"with the flags -, +, space and 0, a width and a precision. %% is a percent sign."},
	}},
}}
