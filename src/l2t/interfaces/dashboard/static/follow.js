// Jobs on the server: started, and polled until they end.

import { api, post } from "./base.js";

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// onEvent(event) is called for every event. Resolves to the job when it is done, throws if it fails.
export async function watch(id, onEvent) {
  for (let after = 0; ; await wait(200)) {
    const job = await api(`/api/jobs/${id}?after=${after}`);
    for (const event of job.events) await onEvent(event);
    const more = job.next > after;
    after = job.next;
    if (more || job.state === "running") continue;
    if (job.state === "done") return job;
    throw new Error(job.state === "cancelled" ? "the job was cancelled" : job.error);
  }
}

export const follow = async (path, request, onEvent) => watch((await post(path, request)).id, onEvent);
