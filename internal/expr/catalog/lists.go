package catalog

var lists = Section{"Lists, structs, maps", Elementwise, "no", []Row{
	{Operands: "string, literal", Result: "list of strings", Functions: []Function{
		{Name: "split", Parameters: params{{Name: "separator", Type: Text}}, Call: "nested.Split", Example: "split(route, '-')",
			Doc:    "Split is the list of the parts of a string between occurrences of a separator of one byte or more.",
			Python: "str.split(by: str)", PythonDoc: "The list of the parts of the string between occurrences of a text."},
	}},
	{Operands: "string, a pattern", Result: "list of strings", Fuses: onHost, Functions: []Function{
		{Name: "extract_all_regex", Aliases: []string{"regexp_extract_all"}, Parameters: params{{Name: "pattern", Type: Text}, {Name: "group", Type: Whole}}, Call: "text.ExtractAll", Example: "extract_all_regex(text, '#([a-z]+)', 1)",
			Doc:    "ExtractAllRegex is the list of the texts of a group of all matches of a regular expression that do not overlap. Group 0 is the match. An element is null if the group takes no part in the match.",
			Python: "str.extract_all(pattern: str, group_index: int = 0)", PythonDoc: "The list of the texts of a group of all matches of a regular expression; group 0 is the match."},
		{Name: "split_regex", Aliases: []string{"string_split_regex", "regexp_split_to_array"}, Parameters: withPattern, Call: "text.SplitRegex", Example: "split_regex(text, '[,;] *')",
			Doc:    "SplitRegex is the list of the parts of a string between the matches of a regular expression. An empty string is one empty part.",
			Python: "str.split_regex(pattern: str)", PythonDoc: "The list of the parts between the matches of a regular expression. Polars has ``split(literal=False)``."},
	}},
	{Operands: "string", Result: "list of strings", Fuses: onHost, Functions: []Function{
		{Name: "words", Aliases: []string{"tokenize"}, Call: "text.Words", Doc: "Words is the list of the words of a string: the longest runs of letters, their marks and digits.",
			Python: "str.words()", PythonDoc: "The list of the words: the longest runs of letters and digits."},
	}},
	{Operands: "string with JSON", Result: "list of strings", Null: noJSON + "; the value has another type", Fuses: onHost, Functions: []Function{
		{Name: "json_keys", Parameters: withPath, Call: "text.JSONKeys", Example: "json_keys(event, '$')", Doc: "JSONKeys is the list of the names of the members of the object at a path of a JSON text.",
			Python: `str.json_keys(path: str = "$")`, PythonDoc: "The list of the names of the members of the object at a path of a JSON text."},
		{Name: "json_elements", Parameters: withPath, Call: "text.JSONElements", Example: "json_elements(event, '$.items')", Doc: "JSONElements is the list of the elements, as JSON, of the array at a path of a JSON text.",
			Python: `str.json_elements(path: str = "$")`, PythonDoc: "The list of the elements, as JSON, of the array at a path of a JSON text."},
	}},
	{Operands: "string, literals", Result: "struct of strings", Null: "never; a field without a part is null", Functions: []Function{
		{Name: "split_fields", Parameters: params{{Name: "separator", Type: Text}, {Name: "names", Type: Texts}}, Body: "e.splitFields(separator, names)", Example: "split_fields(route, '-', 'from', 'to')",
			Doc:       "SplitFields is a struct of the first parts of a string between occurrences of a separator of one byte or more: a field for each name. A part that the string lacks is null.",
			Python:    "str.split_fields(by: str, names: Sequence[str])",
			PythonDoc: "A struct of the first parts of the string that is split at a text: a field for each name. A part that is missing is null."},
	}},
	{Operands: "list", Result: "int64", Functions: []Function{
		{Name: "list_length", Call: "nested.Length", Doc: "ListLength is the number of elements of a list, nulls among them included.",
			Python: "list.len()", PythonDoc: "The number of elements, nulls included."},
		{Name: "list_count", Call: "nested.Fold(e, nested.Count)", Doc: "ListCount is the number of elements of a list that are not null."},
	}},
	{Operands: "list", Result: "the element", Null: "no such element", Functions: []Function{
		{Name: "list_get", Parameters: params{{Name: "index", Type: Whole}}, Call: "nested.Get", Example: "list_get(stops, 0)",
			Doc:    "ListGet is an element of a list. The first one has index 0; a negative index counts from the end. It is null beyond the elements.",
			Python: "list.get(index: int)", PythonDoc: "An element; a negative index counts from the end. It is null if the list is shorter, as with Polars' null_on_oob=True."},
	}},
	{Operands: "list, list of integers", Result: "list of the elements", Null: "no positions; an element that does not exist is null", Functions: []Function{
		{Name: "list_take", Parameters: params{{Name: "positions", Type: Expression}}, Call: "nested.Take", Example: "list_take(stops, sequence(3))",
			Doc:    "ListTake is the list of the elements of a list at positions, a list of integers. The first element has position 0; a negative position counts from the end. An element that does not exist is null.",
			Python: "list.gather(indices: IntoExpr)", PythonDoc: "The elements at positions, which are a list of integers; a negative position counts from the end. An element that does not exist is null, as with Polars' null_on_oob=True."},
	}},
	{Operands: "lists", Result: "list of structs", Null: "a null list in front", Functions: []Function{
		{Name: "list_zip", Free: true, Parameters: params{{Name: "lists", Type: Expressions}}, Body: "zipOf(unpack(lists))", Example: "list_zip(stops, delays)",
			Doc: "ListZip is the list of structs of the elements at each position of lists, whose names are those of the fields. It is as long as the longest list; elements that another one lacks are null."},
	}},
	{Operands: "list of lists", Result: "list", Functions: []Function{
		{Name: "list_flatten", Call: "nested.Flatten", Doc: "ListFlatten is the list of the elements of the lists in a list. Null ones among these have no elements."},
	}},
	{Operands: "integers", Result: "list of int64", Functions: []Function{
		{Name: "sequence", Call: "nested.Sequence", Doc: "Sequence is the list of the integers from 0 to e, e excluded: Explode of it repeats a row e times.",
			Python: "int_list()", PythonDoc: "The list of the integers from 0 to the value, the value excluded: ``explode`` of it repeats a row. Polars has ``int_ranges``."},
	}},
	{Operands: "list", Result: "list", Functions: []Function{
		{Name: "list_slice", Parameters: params{{Name: "from", Type: Whole}, {Name: "most", Type: Whole}}, Call: "nested.Slice", Example: "list_slice(stops, 0, 3)", Python: "list.slice",
			Doc: "ListSlice is at most most elements of a list from element from on, which counts from the end if it is negative."},
		{Name: "list_sort", Call: "nested.Sort(e, nested.SortOptions{})", Doc: "ListSort is a list with its elements in ascending order, nulls last.", Python: "list.sort"},
		{Name: "list_sort_descending", Call: "nested.Sort(e, nested.SortOptions{Descending: true})", Python: "list.sort",
			Doc: "ListSortDescending is a list with its elements in descending order, nulls last."},
	}},
	{Operands: "none, within `list_eval` and `list_filter`", Result: "the element; int64", Functions: []Function{
		{Name: "element", Kind: Form, Free: true, Call: ByHand, Example: "element() * 2", Python: "element"},
		{Name: "element_index", Kind: Form, Free: true, Call: ByHand, Example: "element_index() % 2"},
	}},
	{Operands: "list, an expression on its elements", Result: "list of its values", Functions: []Function{
		{Name: "list_eval", Variant: "ListEvalWith", Parameters: params{{Name: "values", Type: Expression}}, Call: "nested.Eval(e, values, nested.DefaultVariables)", Example: "list_eval(prices, element() * rate)",
			Doc:    "ListEval is the list of the values of an expression on the elements of a list, which are Element. Other columns have their value in the row of the list.",
			Python: "list.eval(expr: IntoExpr)", PythonDoc: "The values of an expression on the elements, which are :func:`element`. Other columns have their value in the row of the list."},
	}},
	{Operands: "list, a condition on its elements", Result: "list", Functions: []Function{
		{Name: "list_filter", Variant: "ListFilterWith", Parameters: params{{Name: "condition", Type: Expression}}, Call: "nested.Filter(e, condition, nested.DefaultVariables)", Example: "list_filter(prices, element() > 10)",
			Doc:    "ListFilter is the list of the elements for which a condition is true: an expression as that of ListEval.",
			Python: "list.filter(predicate: IntoExpr)", PythonDoc: "The elements for which a condition on :func:`element` is true."},
	}},
	{Operands: "list", Result: "list", Functions: []Function{
		{Name: "list_unique", Call: "nested.Unique", Doc: "ListUnique is the list of the first of equal elements, in their order. Nulls are equal.",
			Python: "list.unique()", PythonDoc: "The first of equal elements, in their order."},
	}},
	{Operands: "lists and values of one type", Result: "list", Null: "a null list", Functions: []Function{
		{Name: "concat_list", Free: true, Parameters: params{{Name: "values", Type: Operands}}, Call: "nested.Concat", Example: "concat_list(stops, last_stop)", Python: "concat_list",
			Doc: "ConcatList is the list of the elements of lists, and of other values as one element each."},
	}},
	{Operands: "lists and values of one type", Result: "list", Null: "nothing but null lists", Functions: []Function{
		{Name: "concat_list_skip_nulls", Free: true, Parameters: params{{Name: "values", Type: Operands}}, Call: "nested.ConcatSkipNulls", Example: "concat_list_skip_nulls(stops, last_stop)",
			Doc: "ConcatListSkipNulls is ConcatList without the lists that are null."},
	}},
	{Operands: "list of strings, literal", Result: "string", Functions: []Function{
		{Name: "list_join", Parameters: params{{Name: "separator", Type: Text}}, Call: "nested.Join", Example: "list_join(stops, '-')",
			Doc:    "ListJoin is the strings of a list in one string, with a separator between them. Nulls are left out.",
			Python: "list.join(separator: str)", PythonDoc: "The strings in one string, with a separator between them. Nulls are left out, as with Polars' ignore_nulls=True."},
	}},
	{Operands: "list, value", Result: "bool", Functions: []Function{
		{Name: "list_contains", Parameters: params{{Name: "value", Go: "x", Type: Literal}}, Call: "nested.Contains", Example: "list_contains(stops, 'ATL')",
			Doc:    "ListContains reports whether an element of a list equals a Go value, or is null for nil.",
			Python: "list.contains(item: Any)", PythonDoc: "Whether an element equals a value."},
	}},
	{Operands: "list of numbers", Result: "sum, element or float64", Null: "no values", Functions: []Function{
		{Name: "list_sum", Call: "nested.Fold(e, nested.Sum)", Doc: "ListSum is the sum of the elements of a list. Like the other folds it skips nulls, and is null without values.",
			Python: "list.sum()", PythonDoc: "The sum of the elements."},
		{Name: "list_min", Call: "nested.Fold(e, nested.Min)", Doc: "ListMin is the least element of a list.", Python: "list.min()", PythonDoc: "The least element."},
		{Name: "list_max", Call: "nested.Fold(e, nested.Max)", Doc: "ListMax is the greatest element of a list.", Python: "list.max()", PythonDoc: "The greatest element."},
		{Name: "list_mean", Call: "nested.Fold(e, nested.Mean)", Doc: "ListMean is the mean of the elements of a list.", Python: "list.mean()", PythonDoc: "The mean of the elements."},
	}},
	{Operands: "list of bools", Result: "bool", Null: "no values", Functions: []Function{
		{Name: "list_any", Call: "nested.Fold(e, nested.Any)", Doc: "ListAny reports whether an element of a list of bools is true.", Python: "list.any()", PythonDoc: "Whether an element is true."},
		{Name: "list_all", Call: "nested.Fold(e, nested.All)", Doc: "ListAll reports whether all elements of a list of bools are true.", Python: "list.all()", PythonDoc: "Whether every element is true."},
	}},
	{Operands: "literals", Result: "list of float64", Null: "never", Functions: []Function{
		{Name: "vector", Free: true, Parameters: params{{Name: "numbers", Type: Numbers}}, Body: "vectorOf(numbers)", Example: "vector(0.5, 1, -2)", Python: "vector",
			Doc: "Vector is a vector that all rows have: a list of float64 of a fixed size. Operands of functions of vectors may be a []float64 or a []float32 instead."},
	}},
	{Operands: "lists of integers or floats", Result: "float64", Null: "a null element; lists of different lengths", Functions: []Function{
		{Name: "dot", Parameters: params{{Name: "y"}}, Call: "vector.DotProduct", Example: "dot(embedding, vector(0.5, 1, -2))", Python: "list.dot",
			Doc: "Dot is the dot product of two vectors, the sum of the products of their elements in float64. y is an expression, a []float64 or a []float32. Lists of a fixed size must have the same size."},
		{Name: "l2_distance", Parameters: params{{Name: "y"}}, Call: "vector.L2Distance", Example: "l2_distance(embedding, vector(0.5, 1, -2))", Python: "list.l2_distance",
			Doc: "L2Distance is the Euclidean distance of two vectors: as [Expr.Dot]."},
	}},
	{Operands: "lists of integers or floats", Result: "float64", Null: "a null element; lists of different lengths; a vector of the length zero", Functions: []Function{
		{Name: "cosine_similarity", Parameters: params{{Name: "y"}}, Call: "vector.CosineSimilarity", Example: "cosine_similarity(embedding, vector(0.5, 1, -2))", Python: "list.cosine_similarity",
			Doc: "CosineSimilarity is the cosine of the angle between two vectors, from -1 to 1: as [Expr.Dot]. It is null if one of them has the length zero."},
	}},
	{Operands: "list of integers or floats", Result: "float64", Null: "a null element", Functions: []Function{
		{Name: "norm", Call: "vector.Norm", Doc: "Norm is the Euclidean length of a vector.", Python: "list.norm()", PythonDoc: "The Euclidean length of a vector."},
	}},
	{Operands: "struct", Result: "the field", Functions: []Function{
		{Name: "field", Parameters: params{{Name: "name", Type: Text}}, Body: "e.field(name)", Example: "field(place, 'city')", Doc: "Field is a field of a struct.",
			Python: "field(name: str)", PythonDoc: "A field of a struct. Polars has ``struct.field``."},
	}},
	{Operands: "struct, value", Result: "struct", Functions: []Function{
		{Name: "with_field", Parameters: params{{Name: "name", Type: Text}, {Name: "value"}}, Call: "nested.WithField(e, name, value)", Example: "with_field(place, 'city', upper(city))",
			Doc:    "WithField is a struct with another value of a field, or with a further field behind its own.",
			Python: "with_field(name: str, value: IntoExpr)", PythonDoc: "A struct with another value of a field, or with a further field. A str is a value. Polars has ``struct.with_fields``."},
	}},
	{Operands: "lists of keys and values", Result: "map", Functions: []Function{
		{Name: "map", Go: "MapOf", Free: true, Parameters: params{{Name: "keys", Type: Expression}, {Name: "values", Type: Expression}}, Body: "binary(expressionOf(keys), expressionOf(values), nested.Map)", Example: "map(names, prices)",
			Doc: "MapOf is the map of lists of keys and of values at the same positions. Keys that are null are left out, and values that are missing are null."},
		{Name: "map_from_entries", Call: "nested.MapFromEntries", Doc: "MapFromEntries is the map of a list of structs of the fields key and value. Entries without a key are left out."},
	}},
	{Operands: "map", Result: "list of structs of key and value", Functions: []Function{
		{Name: "map_entries", Call: "nested.Entries", Doc: "MapEntries is the list of the entries of a map. [Expr.ListEval] of Element().Field(\"key\") has its keys."},
	}},
	{Operands: "map", Result: "the value", Null: "no such key", Functions: []Function{
		{Name: "map_get", Parameters: params{{Name: "key", Type: Literal}}, Call: "nested.Lookup", Example: "map_get(tags, 'color')",
			Doc: "MapGet is the value of the first entry of a map with a key, a Go value. It is null without such an entry."},
	}},
	{Operands: "any", Result: "struct", Null: "never", Functions: []Function{
		{Name: "struct", Free: true, Parameters: params{{Name: "fields", Type: Expressions}}, Body: "structOf(unpack(fields))", Doc: "Struct is a struct of the values of expressions, with their names."},
	}},
}}
