package lint

// pending holds the folders whose English has not been rewritten yet, with the
// number of hits in 1,000 words that they may have. Numbers only fall; a folder that
// is done leaves the table.
var pending = map[string]float64{}

// pendingNames holds the folders and files with variables that have not been renamed yet, with the
// number of empty names that they may have. Numbers only fall; a folder that is done leaves the table.
var pendingNames = map[string]int{}
