package adbc

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow-adbc/go/adbc"
)

// options are those of a statement or a connection, with their values.
type options map[string]string

func (o options) get(key string) (string, error) {
	value, ok := o[key]
	if !ok {
		return "", failure("get an option", adbc.StatusNotFound, fmt.Errorf("there is no option %q", key))
	}
	return value, nil
}

// connectionOptions are the options of all connections.
var connectionOptions = options{
	adbc.OptionKeyAutoCommit: adbc.OptionValueEnabled, adbc.OptionKeyCurrentCatalog: catalog, adbc.OptionKeyCurrentDbSchema: dbSchema,
}

// GetOption implements adbc.GetSetOptions.
func (c *connection) GetOption(key string) (string, error) { return connectionOptions.get(key) }

// SetOption implements adbc.GetSetOptions. Options have one value that works.
func (c *connection) SetOption(key, value string) error {
	current, err := connectionOptions.get(key)
	if err != nil || value != current {
		return failure("set an option of a connection", adbc.StatusNotImplemented, fmt.Errorf("%s=%q: there are no transactions and one schema", key, value))
	}
	return nil
}

// noOptions implements the parts of adbc.GetSetOptions for values that no option has.
type noOptions struct{}

func (noOptions) SetOptionBytes(key string, _ []byte) error { return noOption(key) }
func (noOptions) SetOptionInt(key string, value int64) error {
	return noOption(key + "=" + strconv.FormatInt(value, 10))
}
func (noOptions) SetOptionDouble(key string, _ float64) error { return noOption(key) }
func (noOptions) GetOptionBytes(key string) ([]byte, error)   { return nil, noOption(key) }
func (noOptions) GetOptionInt(key string) (int64, error)      { return 0, noOption(key) }
func (noOptions) GetOptionDouble(key string) (float64, error) { return 0, noOption(key) }

func noOption(key string) error {
	return failure("use an option", adbc.StatusNotImplemented, fmt.Errorf("there is no option %s with a value of this type", key))
}
