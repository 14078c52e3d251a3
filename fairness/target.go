package fairness

// Target is what is known of a service that is not our own.
type Target struct {
	URL         string      `json:"url"`
	Entitlement string      `json:"entitlement"` // what entitlements are shares of: FromStated or FromAdmitted
	Limits      []ToldLimit `json:"limits"`      // what its answers said of limits of its own; never nil
}

// OfTarget is the policy of a limit that is not our own.
const OfTarget = "target"

// Foreign reports whether the limit is that of a target, of which at best the rate is known.
func (l *Limit) Foreign() bool { return l.Policy == OfTarget }

// What is shared out when the limiter is somebody else's.
const (
	FromStated   = "stated"   // a limit that the user states
	FromAdmitted = "admitted" // what the service admits in sum, in each stretch anew
)

// ToldLimit is a limit as a service tells it in header fields such as RateLimit-Policy.
type ToldLimit struct {
	Field     string `json:"field"`     // the header field
	Name      string `json:"name"`      // "" when it has none
	Quota     int64  `json:"quota"`     // of a window
	Window    Number `json:"window_s"`  // none: not told
	Remaining Number `json:"remaining"` // in the last answer; none: not told
	Reset     Number `json:"reset_s"`   // from the last answer until it is as fresh again; none: not told
	Answers   int64  `json:"answers"`   // so many told it
}
