// What the server can be asked. Every mistake becomes an Error with one sentence.

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The page's server does not answer. Is `unisymnet serve` still running?");
  }
  if (answer.ok) return answer;
  let reason = `${answer.status} ${answer.statusText}`;
  const text = await answer.text();
  try { reason = JSON.parse(text).error ?? reason; } catch { reason = text.trim() || reason; }
  throw new Error(reason);
}

const query = (values) => new URLSearchParams(values).toString();

export async function get(name, values = {}) {
  return (await ask(`/api/${name}?${query(values)}`)).json();
}

export async function post(name, body) {
  return (await ask(`/api/${name}`, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).json();
}

export async function upload(file) {
  return (await ask(`/api/tables/${encodeURIComponent(file.name)}`, { method: "PUT", body: file })).json();
}

export async function predict(run, text, file) {
  const answer = await ask(`/api/predict?${query({ run, text, file: file.name })}`, { method: "POST", body: file });
  return { text: await answer.text(), note: JSON.parse(answer.headers.get("X-Note")) };
}

export const reportAddress = (run) => `/api/report?${query({ run })}`;

// The events of a run. The browser itself goes on after a lost connection and names the last event it has seen; where
// it gives up, because the server answered with an error, we do.
export function follow(run, onEvent, onLink) {
  let source, last = "0", timer, over = false;
  const open = () => {
    source = new EventSource(`/api/events?${query({ run, after: last })}`);
    source.onopen = () => onLink(true);
    source.onmessage = (message) => {
      if (Number(message.lastEventId) <= Number(last)) return;
      last = message.lastEventId;
      onEvent(JSON.parse(message.data));
    };
    source.onerror = () => {
      onLink(false);
      if (source.readyState === EventSource.CLOSED && !over) timer = setTimeout(open, 1500);
    };
  };
  open();
  return () => { over = true; clearTimeout(timer); source.close(); };
}
