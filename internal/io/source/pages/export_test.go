package pages

// SetMostElements sets the number of elements of an array at most, and returns a function that sets what was before.
func SetMostElements(elements int) (reset func()) {
	before := mostElements
	mostElements = elements
	return func() { mostElements = before }
}
