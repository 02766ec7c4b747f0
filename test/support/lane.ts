import type { HttpAdapter } from '../../src/common/http-adapter.js';
import type { FastLane } from '../../src/common/lane/fast-lane.js';
import type { WireAnswer } from './catalog.js';
import type { TestService } from './service.js';
import { until } from './wait.js';

/** Whether the latest request to a service was answered before Express, from now on. */
export function watchLane(service: TestService): () => boolean {
  const lane = laneOf(service);
  const around = lane.surroundings;
  if (around === null) throw new Error('the lane is closed');
  const attends = lane.attends.bind(lane);
  let latest = false;
  lane.surroundings = {
    ...around,
    pipeline: (request, response) => {
      latest = false;
      around.pipeline(request, response);
    },
  };
  lane.attends = (request, response) => {
    // Said before the lane begins, which may leave the request at once.
    latest = true;
    const attended = attends(request, response);
    if (!attended) latest = false;
    return attended;
  };
  return () => latest;
}

/** Leaves every request to the pipeline from now on. */
export function closeLane(service: TestService): void {
  laneOf(service).surroundings = null;
}

/** The log line of a request, without what differs from request to request. */
export async function logLineOf(service: TestService, { headers }: WireAnswer): Promise<unknown> {
  const line = await until('the log line of the request', () =>
    service.log.find(({ msg, requestId }) => msg === 'request' && requestId === headers['x-request-id']),
  );
  expect(typeof line.durationMs).toBe('number');
  return { ...line, keys: Object.keys(line), time: '', durationMs: 0, requestId: '' };
}

function laneOf({ app }: TestService): FastLane {
  return (app.getHttpAdapter() as unknown as HttpAdapter).fastLane;
}
