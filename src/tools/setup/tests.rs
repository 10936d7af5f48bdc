use super::*;
use tempfile::TempDir;

const PROGRAM: &str = "/opt/Go-Programme für mich/kosumi";

fn machine(home: &TempDir) -> SearchRoots {
    SearchRoots {
        platform: Platform::Unix,
        home: home.path().to_owned(),
        root: "/".into(),
        folders: Vec::new(),
    }
}

fn put(home: &TempDir, file: &str, text: &str) -> PathBuf {
    let path = home.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn sabaki_gets_an_engine_once_and_keeps_the_rest() {
    let home = TempDir::new().unwrap();
    let client = Client::Sabaki;
    assert!(client.settings_file(&machine(&home)).unwrap_err().to_string().contains("start Sabaki once"));
    let old = r#"{"game.default_komi": 6.5, "engines.list": [{"name": "Leela", "path": "/l", "args": ""}]}"#;
    let file = put(&home, ".config/Sabaki/settings.json", old);
    assert_eq!(client.settings_file(&machine(&home)).unwrap(), file);
    let backup = client.write(&file, Path::new(PROGRAM)).unwrap().unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), old);
    let new = read(&file);
    assert_eq!(new["game.default_komi"], 6.5);
    assert_eq!(new["engines.list"][0]["name"], "Leela");
    assert_eq!(
        new["engines.list"][1],
        json!({"name": "Kosumi", "path": PROGRAM, "args": PLAYS, "commands": ""})
    );
    let text = fs::read(&file).unwrap();
    assert_eq!(client.write(&file, Path::new(PROGRAM)).unwrap(), None);
    assert_eq!(fs::read(&file).unwrap(), text);
}

#[test]
fn katrain_and_lizzie_use_the_engine_from_then_on() {
    let home = TempDir::new().unwrap();
    let file =
        put(&home, ".katrain/config.json", r#"{"engine": {"katago": "", "altcommand": "x", "threads": 12}}"#);
    assert_eq!(Client::KaTrain.settings_file(&machine(&home)).unwrap(), file);
    assert!(Client::KaTrain.write(&file, Path::new(PROGRAM)).unwrap().is_some());
    assert_eq!(read(&file)["engine"], json!({"katago": PROGRAM, "altcommand": "", "threads": 12}));

    let file = put(
        &home,
        "Lizzie/config.txt",
        r#"{"leelaz": {"engine-command": "leelaz", "engine-command-list": ["", "b"]}}"#,
    );
    assert!(Client::Lizzie.write(&file, Path::new(PROGRAM)).unwrap().is_some());
    let command = format!("\"{PROGRAM}\" gtp --compatible katago");
    let expected = json!({"engine-command": command, "engine-command-list": ["leelaz", "b"]});
    assert_eq!(read(&file)["leelaz"], expected);
    assert_eq!(Client::Lizzie.write(&file, Path::new(PROGRAM)).unwrap(), None);
    // The second change on the same day has a backup of its own.
    assert!(
        Client::Lizzie
            .write(&file, Path::new("/b/kosumi"))
            .unwrap()
            .unwrap()
            .ends_with("config.txt.before-kosumi-2")
    );
}

#[test]
fn what_is_not_understood_is_unchanged() {
    let home = TempDir::new().unwrap();
    for (client, text) in [
        (Client::Sabaki, "{"),
        (Client::Sabaki, "[]"),
        (Client::Sabaki, r#"{"engines.list": 1}"#),
        (Client::KaTrain, "{}"),
        (Client::Lizzie, r#"{"leelaz": {"engine-settings-list": []}}"#),
        (
            Client::Lizzie,
            r#"{"leelaz": {"engine-command": "x", "engine-command-list": ["1", "2", "3", "4", "5", "6", "7", "8", "9"]}}"#,
        ),
        (Client::GoGui, "<map/>"),
    ] {
        let file = put(&home, "settings", text);
        assert!(client.write(&file, Path::new(PROGRAM)).is_err(), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no backup of what is not changed");
    }
    assert!(Client::Sabaki.write(&home.path().join("none"), Path::new(PROGRAM)).is_err());
}

#[test]
fn gogui_gets_a_program_at_the_end_of_its_list() {
    let home = TempDir::new().unwrap();
    let file = Client::GoGui.settings_file(&machine(&home)).unwrap();
    let write = |program: &str| Client::GoGui.write(&file, Path::new(program)).unwrap();
    assert_eq!(write("/a & b/kosumi"), Some(file.clone()));
    assert_eq!(write("/a & b/kosumi"), None);
    assert!(write("/c/kosumi").is_some());
    let values = |file: &Path| {
        let text = fs::read_to_string(file).unwrap();
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
        let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
        let entries = document.descendants().filter(|node| node.has_tag_name("entry"));
        entries
            .map(|node| ["key", "value"].map(|name| node.attribute(name).unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&file), [["size", "2"].map(str::to_owned)]);
    let folder = file.parent().unwrap();
    assert_eq!(
        values(&folder.join("0/prefs.xml"))[0],
        ["command", "\"/a & b/kosumi\" gtp --time 5"].map(str::to_owned)
    );
    assert_eq!(values(&folder.join("1/prefs.xml"))[0][1], "/c/kosumi gtp --time 5");
    let windows = SearchRoots { platform: Platform::Windows, ..machine(&home) };
    assert!(Client::GoGui.settings_file(&windows).is_err());
}

#[test]
fn kgs_gtp_reads_properties() {
    let command = command_line(Path::new(r"C:\Go é\kosumi.exe"), PLAYS);
    let line = r#"engine="C:\\Go \u00e9\\kosumi.exe" gtp --time 5"#;
    assert_eq!(with_property("name=x\n engine : old\nroom=y", &command), format!("name=x\n{line}\nroom=y\n"));
    assert_eq!(with_property("engineless=x\n", &command), format!("engineless=x\n{line}\n"));
}

#[test]
fn instructions_have_the_path() {
    for client in Client::ALL {
        assert!(
            client.instructions(Path::new("/opt/kosumi")).join("\n").contains("/opt/kosumi"),
            "{client:?}"
        );
        assert_eq!(Client::named(&client.name().to_lowercase()), Some(client));
    }
    assert_eq!(Client::named("fritz"), None);
}
