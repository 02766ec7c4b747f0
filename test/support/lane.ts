import type { HttpAdapter } from '../../src/common/http-adapter.js';
import type { FastLane } from '../../src/common/lane/fast-lane.js';
import type { TestService } from './service.js';

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

function laneOf({ app }: TestService): FastLane {
  return (app.getHttpAdapter() as unknown as HttpAdapter).fastLane;
}
