package flight

import (
	"context"
	"encoding/json"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"google.golang.org/grpc/codes"

	"github.com/gpuframe/gpuframe/sql/substrait"
)

// planned returns the statement of a plan of Substrait.
func (s *statements) planned(plan flightsql.SubstraitPlan) (string, error) {
	most := s.service.server.limits.DocumentBytes
	if len(plan.Plan) > most {
		return "", refused(codes.ResourceExhausted, "a plan of %d bytes, expected %d at most", len(plan.Plan), most)
	}
	text, err := substrait.Statement(plan.Plan)
	if err != nil {
		return "", refused(codes.InvalidArgument, "%v", err)
	}
	if len(text) > most/2 {
		return "", refused(codes.ResourceExhausted, "a plan of a statement of %d bytes, expected %d at most", len(text), most/2)
	}
	return text, nil
}

// GetFlightInfoSubstraitPlan implements flightsql.Server. The ticket is the statement of the plan.
func (s *statements) GetFlightInfoSubstraitPlan(ctx context.Context, request flightsql.StatementSubstraitPlan, descriptor *arrowflight.FlightDescriptor) (*arrowflight.FlightInfo, error) {
	text, err := s.planned(request.GetPlan())
	if err != nil {
		return nil, err
	}
	return s.info(ctx, []byte(text), descriptor)
}

// GetSchemaSubstraitPlan implements flightsql.Server.
func (s *statements) GetSchemaSubstraitPlan(ctx context.Context, request flightsql.StatementSubstraitPlan, _ *arrowflight.FlightDescriptor) (*arrowflight.SchemaResult, error) {
	text, err := s.planned(request.GetPlan())
	if err != nil {
		return nil, err
	}
	return s.schema(ctx, []byte(text))
}

// CreatePreparedSubstraitPlan implements flightsql.Server.
func (s *statements) CreatePreparedSubstraitPlan(_ context.Context, request flightsql.ActionCreatePreparedSubstraitPlanRequest) (result flightsql.ActionCreatePreparedStatementResult, err error) {
	text, err := s.planned(request.GetPlan())
	if err != nil {
		return result, err
	}
	result.Handle, err = json.Marshal(ticket{Statement: &text})
	return result, err
}
