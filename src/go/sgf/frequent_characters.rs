//! Characters in names and words of game records, by language. They distinguish the double-byte character sets when a
//! record contains no more text than two names.

/// Characters of one language.
pub(super) struct FrequentCharacters {
    pub(super) family: &'static str,
    pub(super) others: &'static str,
}

/// Simplified Chinese characters, of mainland China.
pub(super) const SIMPLIFIED: FrequentCharacters = FrequentCharacters {
    family: "\
        王李张刘陈杨黄赵周吴徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜\
        崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤常聂古柯时连芈\
        檀党俞华芮於辜申朴元洪安章洛温乔伍施焦倪屠柁童伊过井小大老依高武",
    others: "\
        力伟芳娜秀英敏静丽强磊军洋勇艳杰娟涛明超霞平刚桂国建文志海云玉红春永生东晓卫光天宇飞洁世昌镐薰铉赫泽耀烨越星\
        廷钰维鼎新尔豪子浩啸毅立尧真谞相壹山裕太正树清源治勋诚峰栩羽根直尾绅路纪基结城聪炜鹤睿靖晨乃少博鑫鹏斌健峻慧\
        波辉俊良德忠义成康凯欣佳雨雪梅兰竹菊阳思远嘉琪轩涵梓怡欢乐宝贝阿爱心竞钦轩然梦\
        围棋友谊赛第届杯决战名人座本因坊位职业余联甲级冠军挑半局黑胜负目中盘和贴让先手网络弈野狐腾讯新浪比日际界锦标\
        公开预选轮次年月上北京杭州都省市队员教练讲解说评复研究一二三四五六七八九十百千零的是不在有这个我他了到下左右来\
        去好坏死活打劫征吃提长跳尖断接双虎定式布官收功夫迷客侠求败孤独风扬刀",
};

/// Traditional Chinese characters, of Taiwan and Hong Kong.
pub(super) const TRADITIONAL: FrequentCharacters = FrequentCharacters {
    family: "\
        王李張劉陳楊黃趙周吳徐孫馬朱胡郭何高林羅鄭梁謝宋唐許韓馮鄧曹彭曾蕭田董袁潘于蔣蔡余杜葉程蘇魏呂丁任沈姚盧姜\
        崔鍾譚陸汪范金石廖賈夏韋方白鄒孟熊秦邱江尹薛段雷侯龍史陶黎賀顧毛郝龔邵萬錢嚴武戴莫孔湯常聶古柯時連洪游簡賴\
        詹黑",
    others: "\
        力俊勳皓鋐元均詩淵君諺祥正浩功蓋清源治立誠海峰栩嘉依旻主恩靖庭俐輔銘至涵大小衛平曉春昌鎬薰鉉赫國建文志雲玉\
        紅永生東光天宇飛潔世家豪偉明傑宏榮華芳美惠雅淑麗英秀玲怡承翰宗佳穎哲維仁信義德忠慧欣婷雯子\
        圍棋友誼賽第屆盃決戰名人座本因坊位職業餘聯冠軍挑半局勝負目中盤押和貼讓先對手網路比日際界錦標公開預選輪次年月\
        臺台灣北市隊員教練講解說評復研究一二三四五六七八九十百千零的是不在有這個我他了到上下左右來去好壞死活打劫征吃\
        提長跳尖斷接雙虎星定式布官收應氏院測試者夫俠功",
};

/// Japanese characters.
pub(super) const JAPANESE: FrequentCharacters = FrequentCharacters {
    family: "\
        田中山小林大木村井上野川原佐伊渡高橋鈴斎加吉松岡清水池石前後長谷森近遠内西東北南今宮竹梅安福島武羽尾張趙呉王\
        河一芝許仲藤坂梶岩金成関柳片桐溝孫蘇星本依結平余秀酒三岸赤秋青新宇江奥沖片菊工久黒桑幸堀真増丸",
    others: "\
        正樹依紀基城聡根直紳路栩治勲源立誠海峰力遼虎丸家元邑菫愛咲美里菜策行太郎次二四五六七八九十実薫格芳夫敬吾臨英\
        雄栄裕光彦子男雅弘浩和也隆明博之哲健司剛孝治恵理由香代奈紗友希保口崎沢辺俊寛信隼伸彰豊航朗介史弥智知親宏\
        囲碁名人棋聖因坊段天座戦第期局手合先番勝負押目半持互置院日杯決定予選回年月聞社対好試練習表示能電脳解説級初有者\
        世界国際権挑道策丈井士師",
};

/// Korean characters.
pub(super) const KOREAN: FrequentCharacters = FrequentCharacters {
    family: "\
        김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현함변염여추\
        도소석선설마길연위표명기반왕금옥육인맹제모탁국목",
    others: "\
        세돌창호훈혁환상일준동철영승용수경희은혜미재태규범욱찬빈아라보슬린가다자를을는의에로와과해들사시어러으니었습것\
        있없않바둑흑집불계대결회본예단급프로기후친순접덤중무패완갑독초하",
};
