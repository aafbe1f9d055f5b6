// A computation on the server: begun, and asked again and again until it ends.

import { api, post } from "./base.js";

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// see(event) is called for every event. Gives the job when it is done, throws when it is not.
export async function watch(id, see) {
  for (let after = 0; ; await wait(200)) {
    const job = await api(`/api/jobs/${id}?after=${after}`);
    for (const event of job.events) await see(event);
    const more = job.next > after;
    after = job.next;
    if (more || job.state === "running") continue;
    if (job.state === "done") return job;
    throw new Error(job.state === "cancelled" ? "it was cancelled" : job.error);
  }
}

export const follow = async (path, request, see) => watch((await post(path, request)).id, see);
