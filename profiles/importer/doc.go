// Package importer makes a profile out of a rate limit that somebody already has.
//
//	nginx.conf           ┐                 ┌─► a profile: the limiter, with a comment on each line that
//	envoy.yaml           │  parse, detect  │   says where its value came from, and two clients to begin with
//	application.yml      ├────────────────►┤
//	application.properties                 └─► notes, by line: what could not be carried over, and what
//	                     ┘                     means something else here
//
// Five forms are read: nginx's limit_req and limit_req_zone, Envoy's local rate limit, Spring Cloud Gateway's
// RedisRateLimiter, Bucket4j's bandwidths, and a rate-limit.fallback block with one algorithm for each key. All but nginx's
// may be YAML or Java properties; both become one tree (yaml.go, properties.go), in which dotted keys are spelled out and
// spelling follows Spring's relaxed rule: burst-capacity, burstCapacity and burst_capacity are one key.
//
// The invariant: what Import returns has been read back by profiles.Parse, so that it runs; and what it refuses, it refuses
// with a line. Nothing that limits is passed over in silence: it is in the profile or in a note.
package importer
