// Returns the content of a record's file in the form that the program expects: as text if it is UTF-8, otherwise as
// Base64. The program detects the character encoding.
async function readRecord(file) {
  if (file.size > 2_000_000) throw new RangeError("too long");
  const bytes = new Uint8Array(await file.arrayBuffer());
  try { return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }; } catch { /* It is not UTF-8. */ }
  // Base64 makes it a third longer.
  if (bytes.length > 1_500_000) throw new RangeError("too long");
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { bytes: btoa(binary) };
}

// Handles files that are chosen with an input, or dropped anywhere on the page. Dropped files are ignored if
// `isDropped` is false.
function takeFiles(input, take, isDropped = true) {
  input.addEventListener("change", () => { if (input.files[0]) take(input.files[0]); input.value = ""; });
  if (!isDropped) return;
  addEventListener("dragover", event => event.preventDefault());
  addEventListener("drop", event => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });
}

// Makes the browser save a text as a file.
function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-go-sgf" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
