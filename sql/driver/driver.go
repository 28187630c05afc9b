package driver

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
)

func init() { stdsql.Register("gpuframe", Driver{}) }

// Driver opens databases by data source names.
type Driver struct{}

var _ driver.DriverContext = Driver{}

// Open implements driver.Driver. database/sql calls OpenConnector instead.
func (d Driver) Open(name string) (driver.Conn, error) {
	return nil, fmt.Errorf("gpuframe: open %q: connections of one database share an engine: use OpenConnector", name)
}

// OpenConnector implements driver.DriverContext. The connector has an engine of its own.
func (Driver) OpenConnector(name string) (driver.Connector, error) {
	options, err := Options(name)
	if err != nil {
		return nil, err
	}
	engine, err := gpuframe.Open(options...)
	if err != nil {
		return nil, err
	}
	c := NewConnector(sql.New(engine))
	c.engine = engine
	return c, nil
}

// Connector makes the connections of a database. Its methods may be called by several goroutines at a time.
type Connector struct {
	session *sql.Session
	// engine is closed with the connector, or nil.
	engine *gpuframe.Engine
}

// NewConnector returns a connector for the names of a session, which stays with the caller: it may be used
// next to the database, and is to be closed after it.
func NewConnector(session *sql.Session) *Connector { return &Connector{session: session} }

// Connect implements driver.Connector.
func (c *Connector) Connect(context.Context) (driver.Conn, error) { return &conn{c.session}, nil }

// Driver implements driver.Connector.
func (*Connector) Driver() driver.Driver { return Driver{} }

// Close closes the engine if the driver opened it. [stdsql.DB.Close] calls it.
func (c *Connector) Close() error {
	if c.engine == nil {
		return nil
	}
	return errors.Join(c.session.Close(), c.engine.Close())
}

// Options returns the options of the engine of a data source name.
func Options(name string) (options []gpuframe.Option, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("gpuframe: data source name %q: %w", name, err)
		}
	}()
	values, err := url.ParseQuery(name)
	if err != nil {
		return nil, err
	}
	for key, list := range values {
		option, ok := sourceOptions[key]
		if !ok {
			return nil, fmt.Errorf("there is no option %q, expected device, budget, spill or spill_budget", key)
		}
		if len(list) > 1 && key != "device" {
			return nil, fmt.Errorf("the option %q is there %d times, expected once", key, len(list))
		}
		o, err := option(list)
		if err != nil {
			return nil, fmt.Errorf("the option %s=%s: %w", key, list[0], err)
		}
		options = append(options, o)
	}
	return options, nil
}

// sourceOptions has the options of data source names.
var sourceOptions = map[string]func(values []string) (gpuframe.Option, error){
	"device": func(names []string) (gpuframe.Option, error) {
		if len(names) == 1 {
			return gpuframe.Device(names[0]), nil
		}
		return gpuframe.Devices(slices.Clone(names)...), nil
	},
	"budget": func(values []string) (gpuframe.Option, error) {
		bytes, err := humanize.ParseBytes(values[0])
		return gpuframe.Budget(bytes), err
	},
	"spill": func(values []string) (gpuframe.Option, error) { return gpuframe.SpillDirectory(values[0]), nil },
	"spill_budget": func(values []string) (gpuframe.Option, error) {
		bytes, err := humanize.ParseBytes(values[0])
		return gpuframe.SpillBudget(bytes), err
	},
}
