package substrait

import (
	"slices"
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
)

// behaviours are the choices of options that the engine has, in lower case: by option, and by function. Functions that
// are not listed have those of the empty name.
var behaviours = map[string]map[string][]string{
	"overflow":            {"": {"silent"}}, // the value is null
	"case_sensitivity":    {"": {"case_sensitive"}},
	"rounding":            {"": {"tie_to_even"}, "round": {"tie_away_from_zero"}},
	"negative_start":      {"substring": {"wrap_from_end"}},
	"null_handling":       {"concat": {"accept_nulls", "ignore_nulls"}},
	"distribution":        {"std_dev": {"sample", "population"}, "variance": {"sample", "population"}},
	"on_domain_error":     {"": {"nan"}},
	"on_division_by_zero": {"divide": {"ieee", "limit"}},
	"on_log_zero":         {"": {"minus_infinity"}},
}

// choose returns for each option of a function the first choice of the plan that the engine has. A call without one is
// refused.
func choose(path, function string, list []*substraitpb.FunctionOption) (map[string]string, error) {
	chosen := map[string]string{}
	for _, o := range list {
		name := strings.ToLower(o.GetName())
		known, ok := behaviours[name][function]
		if !ok {
			known = behaviours[name][""]
		}
		i := slices.IndexFunc(o.GetPreference(), func(p string) bool { return slices.Contains(known, strings.ToLower(p)) })
		if i < 0 {
			return nil, failed(path, "option %s with %s is not supported, only %s", o.GetName(), strings.Join(o.GetPreference(), " or "), listed(known))
		}
		chosen[name] = strings.ToLower(o.GetPreference()[i])
	}
	return chosen, nil
}

// listed is a list for a message.
func listed(list []string) string {
	if len(list) == 0 {
		return "calls without it"
	}
	return strings.ToUpper(strings.Join(list, " and "))
}
