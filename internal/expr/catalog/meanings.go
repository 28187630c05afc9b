package catalog

import (
	"slices"
	"strings"
)

// meanings are names of other systems, in lower case, and the names here of what they mean. They are no
// aliases: arguments, nulls or the grammar differ. Messages about unknown names suggest them.
var meanings = map[string]string{
	// Verbs.
	"aggregate": "group", "assign": "with", "derive": "with", "mutate": "with", "summarise": "group", "summarize": "group",
	"arrange": "sort", "order": "sort", "sort_values": "sort", "orderby": "sort", "groupby": "group",
	"take": "head", "offset": "slice", "iloc": "slice", "having": "filter", "query": "filter",
	"dedup": "distinct", "drop_duplicates": "distinct", "unique": "distinct",
	"dropna": "drop_nulls", "fillna": "fill_null", "melt": "unpivot", "unnest": "explode", "pivot_table": "group",
	"merge": "join", "inner_join": "join", "left_join": "join", "merge_asof": "as_of", "join_asof": "as_of",
	"union_all": "union", "minus": "except", "group_by_dynamic": "resample", "project": "select",
	// Functions.
	"average": "mean", "n_unique": "count_distinct", "nunique": "count_distinct",
	"size": "count_rows", "len": "length_chars", "std": "stddev", "std_dev": "stddev", "std_pop": "stddev", "std_samp": "stddev", "stddev_pop": "stddev", "stdev": "stddev", "var": "variance", "var_pop": "variance",
	"skew": "skewness", "kurt": "kurtosis", "percentile": "quantile", "percentile_cont": "quantile", "approx_percentile": "approx_quantile",
	"maximum": "max", "minimum": "min", "total": "sum", "prod": "product",
	"isnull": "is_null", "isna": "is_null", "notna": "is_valid", "notnull": "is_valid", "is_not_null": "is_valid",
	"iff": "if", "ifelse": "if", "when": "if", "try_cast": "cast", "astype": "cast", "convert": "cast",
	"substr": "substring", "mid": "substring", "ucase": "upper", "to_uppercase": "upper", "toupper": "upper", "lcase": "lower", "to_lowercase": "lower", "tolower": "lower",
	"ltrim": "trim_start", "rtrim": "trim_end", "strip": "trim", "lpad": "pad_start", "rpad": "pad_end", "regexp_replace": "replace_regex",
	"regexp_matches": "matches_regex", "regexp_extract": "extract_regex", "includes": "contains", "str_contains": "contains", "position": "find",
	"datepart": "year", "date_trunc": "truncate", "strftime": "format_time", "to_char": "format_time", "strptime": "parse_time", "to_date": "parse_time",
	"datediff": "days_since", "date_diff": "days_since", "dateadd": "add_days", "date_add": "add_days", "dow": "weekday", "dayofweek": "weekday",
	"shift": "lag", "diff": "difference", "pct_change": "percent_change", "ffill": "fill_forward", "bfill": "fill_backward", "cumsum": "cum_sum", "ewm_mean": "exponential_mean", "ewm_mean_by": "exponential_mean_by",
	"collect_list": "list", "collect": "list", "implode": "list", "group_concat": "join_strings", "listagg": "join_strings", "array_length": "list_length", "cardinality": "list_length",
	"clip": "clamp", "arctan2": "atan2", "sgn": "sign", "signum": "sign",
}

// Meaning returns the one of some names that a name of another system means, or "".
func Meaning(name string, names []string) string {
	if meaning, ok := meanings[strings.ToLower(name)]; ok && slices.Contains(names, meaning) {
		return meaning
	}
	return ""
}
