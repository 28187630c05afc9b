package storage

import "github.com/gpuframe/gpuframe"

// TableFiles is a query on files of the store, of the file system or of the machine.
func (s Storage) TableFiles(engine *gpuframe.Engine, listed gpuframe.TableFiles) gpuframe.Query {
	switch {
	case s.Store != nil:
		return engine.Objects(s.Store).TableFiles(listed)
	case s.System != nil:
		return engine.Files(s.System).TableFiles(listed)
	}
	return engine.TableFiles(listed)
}
