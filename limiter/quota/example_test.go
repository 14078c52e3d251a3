package quota_test

import (
	"errors"
	"fmt"
	"time"

	"fairgate/limiter"
	"fairgate/limiter/quota"
)

// Failed logins are limited for each address, and forgiven by one that succeeds.
func Example() {
	limits, err := quota.New(quota.Config{Limits: map[string]quota.Limit{
		"failed-logins": {Rate: limiter.Rate{Tokens: 3, Per: time.Hour}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	attempt := func() string {
		_, err := limits.Require("failed-logins", quota.Request{Key: "ada@example.org"})
		if exceeded := (*quota.Exceeded)(nil); errors.As(err, &exceeded) {
			return "come back in " + exceeded.RetryAfter.Round(time.Minute).String()
		}
		return "wrong password"
	}
	for range 4 {
		fmt.Println(attempt())
	}
	if err := limits.Reset("failed-logins", "ada@example.org"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(attempt())
	// Output:
	// wrong password
	// wrong password
	// wrong password
	// come back in 20m0s
	// wrong password
}
