package adbc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/driver"
)

// Driver makes databases. The zero Driver is ready.
type Driver struct{}

var _ adbc.Driver = Driver{}

// NewDriver returns a driver.
func NewDriver() Driver { return Driver{} }

// NewDatabase opens an engine. The only option is "uri".
func (Driver) NewDatabase(options map[string]string) (adbc.Database, error) {
	db := &Database{}
	if err := db.SetOptions(options); err != nil {
		return nil, err
	}
	chosen, err := driver.Options(db.uri)
	if err != nil {
		return nil, failure("open a database", adbc.StatusInvalidArgument, err)
	}
	engine, err := gpuframe.Open(chosen...)
	if err != nil {
		return nil, failure("open a database", adbc.StatusIO, err)
	}
	db.engine, db.session = engine, sql.New(engine)
	return db, nil
}

// Database is an engine with tables and views. Its methods may be called from any goroutine.
type Database struct {
	noOptions
	uri     string
	session *sql.Session
	// engine is closed with the database, or nil.
	engine *gpuframe.Engine

	mu     sync.Mutex
	closed bool
}

var (
	_ adbc.Database      = (*Database)(nil)
	_ adbc.GetSetOptions = (*Database)(nil)
)

// NewDatabase returns a database of a session, which stays with the caller and is closed after the database.
func NewDatabase(session *sql.Session) *Database { return &Database{session: session} }

// SetOptions sets options before the first connection.
func (d *Database) SetOptions(options map[string]string) error {
	for key, value := range options {
		switch {
		case key != adbc.OptionKeyURI:
			return failure("set an option of a database", adbc.StatusNotImplemented, fmt.Errorf("there is no option %q, expected %q", key, adbc.OptionKeyURI))
		case d.session != nil:
			return failure("set an option of a database", adbc.StatusInvalidState, fmt.Errorf("the option %q is for new databases", key))
		}
		d.uri = value
	}
	return nil
}

// SetOption implements adbc.GetSetOptions.
func (d *Database) SetOption(key, value string) error {
	return d.SetOptions(map[string]string{key: value})
}

// GetOption implements adbc.GetSetOptions.
func (d *Database) GetOption(key string) (string, error) {
	return options{adbc.OptionKeyURI: d.uri}.get(key)
}

// Open makes a connection. It costs nothing.
func (d *Database) Open(context.Context) (adbc.Connection, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, failure("open a connection", adbc.StatusInvalidState, errors.New("the database is closed"))
	}
	return &connection{session: d.session}, nil
}

// Close closes the engine if the driver opened it. Readers must have been released.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return failure("close a database", adbc.StatusInvalidState, errors.New("it is closed already"))
	}
	d.closed = true
	if d.engine == nil {
		return nil
	}
	if err := errors.Join(d.session.Close(), d.engine.Close()); err != nil {
		return failure("close a database", adbc.StatusInternal, err)
	}
	return nil
}
